// Bundles the source files of one package, and only those: what it depends on stays an import. Loading
// an ES module costs more than running it, so a package of eighty files is published as a few.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const ENTRIES = {
  "packages/core": [
    "index.ts",
    "browser.ts",
    "node.ts",
    "testing/index.ts",
    "consolidation/index.ts",
    "internal.ts",
    "errors.ts",
    "check-options.ts",
    "duration.ts",
    "console-line.ts",
    "net/index.ts",
    "node/process-identity.ts",
    "channel-values.ts",
    "backends/approval-demand.ts",
    "approval-warnings/index.ts",
    "secrets.ts",
    "loop/providers/table.ts",
    "telemetry/index.ts",
  ],
  "packages/sandboxes": [
    "index.ts",
    "os.ts",
    "docker.ts",
    "harbor.ts",
    "modal.ts",
    "runloop.ts",
    "daytona.ts",
    "langsmith.ts",
    "agentcore.ts",
    "e2b.ts",
    "command-rules.ts",
    "testing.ts",
  ],
  "packages/checkpoint": [
    "index.ts",
    "sqlite/index.ts",
    "sqlite/worker.ts",
    "postgres/index.ts",
    "sql/index.ts",
    "threads/patches/worker.ts",
  ],
  "packages/protocol": ["index.ts", "fold/screen.ts", "live/index.ts"],
  "packages/evals": ["index.ts"],
  "packages/mcp": ["index.ts"],
  "packages/server": ["index.ts", "mcp/index.ts", "wire.ts", "records/service.ts"],
  "packages/app": ["index.ts"],
  "packages/cli": ["main.ts"],
};

export const PACKAGES = Object.keys(ENTRIES);

/** Packages that go into the bundle: the terminal's components, without the native library they would install. */
const INCLUDED = /^(?:@earendil-works\/pi-tui|marked|get-east-asian-width)$/;

/** Every other package stays an import, of what `locate` returns for it. */
const others = (locate) => ({
  name: "others",
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || INCLUDED.test(path) ? undefined : { path: locate(path), external: true },
    );
  },
});

const EMOJI = "const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;";
const EMOJI_LATER =
  "let emoji; const rgiEmojiRegex = { test: (text) => (emoji ??= /^\\p{RGI_Emoji}$/v).test(text) };";

/** The terminal's pattern for emoji is made at its first use: it takes a fifth of the start of the app. */
const emojiLater = {
  name: "emoji-later",
  setup(builder) {
    builder.onLoad({ filter: /pi-tui[\\/]dist[\\/]utils\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!text.includes(EMOJI)) throw new Error(`${path} has no line '${EMOJI}'.`);
      return { contents: text.replace(EMOJI, () => EMOJI_LATER) };
    });
  },
};

export async function bundle(directory, outdir, root = ".", locate = (specifier) => specifier) {
  const source = join(root, directory, "src");
  await build({
    entryPoints: ENTRIES[directory].map((entry) => join(source, entry)),
    outbase: source,
    outdir,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    mainFields: ["module", "main"],
    plugins: [others(locate), emojiLater],
    format: "esm",
    platform: "neutral",
    target: "node20.19",
    logLevel: "warning",
  });
}

/** Bundles a package into a folder of modules, where it is found as a user's copy would be; returns where it is. */
export async function install(directory, modules, root = ".", locate = undefined) {
  const manifest = JSON.parse(readFileSync(join(root, directory, "package.json"), "utf8"));
  const { name, version, type, sideEffects, exports } = manifest;
  const target = join(modules, ...name.split("/"));
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  await bundle(directory, join(target, "dist"), root, locate);
  const built = { name, version, type, sideEffects, exports: builtOnly(exports) };
  writeFileSync(join(target, "package.json"), JSON.stringify(built));
  return target;
}

/** The exports without the conditions that point at files a bundle does not have. */
function builtOnly(exports) {
  if (typeof exports !== "object") return exports;
  return Object.fromEntries(
    Object.entries(exports)
      .filter(([condition]) => condition !== "source" && condition !== "types")
      .map(([condition, target]) => [condition, builtOnly(target)]),
  );
}
