# A server in a container, built from this repository: docker build -t deepwright .
# How to run it is in docs/deploy.md.

ARG NODE_IMAGE=docker.io/library/node:22-bookworm-slim

# What the packages need to run and the SDKs of sandbox providers, by the lock files; built anew only when those change.
FROM ${NODE_IMAGE} AS modules
WORKDIR /srv
COPY package.json package-lock.json ./
COPY packages/package.json packages/package-lock.json packages/.npmrc packages/
COPY packages/core/package.json packages/core/
COPY packages/checkpoint/package.json packages/checkpoint/
COPY packages/sandboxes/package.json packages/sandboxes/
COPY packages/evals/package.json packages/evals/
COPY packages/protocol/package.json packages/protocol/
COPY packages/mcp/package.json packages/mcp/
COPY packages/server/package.json packages/server/
COPY packages/app/package.json packages/app/
COPY packages/web/package.json packages/web/
COPY packages/cli/package.json packages/cli/
RUN npm install --omit=dev --no-audit --no-fund \
    && npm ci --prefix packages --no-audit --no-fund

# The packages, bundled: that needs none of their modules. The page needs the few that go into it.
FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json source/
RUN npm install --no-audit --no-fund $(node -p '\
    const { dependencies, devDependencies } = require("./source/package.json"); \
    const all = { ...dependencies, ...devDependencies }; \
    ["esbuild", "vite", "preact", "@preact/signals", "marked", "highlight.js", "diff"] \
      .map((name) => `${name}@${all[name]}`).join(" ")')
WORKDIR /build/source
COPY scripts scripts
COPY packages packages
RUN node scripts/build.mjs --no-types \
    && rm -rf packages/*/src packages/*/tsconfig.build.json

FROM ${NODE_IMAGE}
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/deepwright --no-create-home deepwright \
    && install --directory --owner=deepwright --mode=0700 /var/lib/deepwright \
    && install --directory --owner=deepwright /srv/app
COPY --from=modules /srv/node_modules /srv/node_modules
COPY --from=modules /srv/packages/node_modules /srv/packages/node_modules
COPY --from=build /build/source/packages /srv/packages

# Beside the modules, so that agents in it find them.
WORKDIR /srv/app
# Threads, runs and the store of a server without DATABASE_URL.
ENV NODE_ENV=production DEEPWRIGHT_HOME=/var/lib/deepwright
VOLUME /var/lib/deepwright
USER deepwright
EXPOSE 2024

# Signals reach the server, and nobody is left behind as a zombie.
ENTRYPOINT ["tini", "--", "node", "/srv/packages/cli/dist/main.js"]
CMD ["serve", "--host", "0.0.0.0", "--port", "2024", "--open-health"]
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["node", "-e", "fetch('http://127.0.0.1:2024/ok').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
