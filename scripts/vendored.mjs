// Bundles the packages of others that our programs load at their start. Tests start programs hundreds of times, and
// finding and compiling these modules one by one is a fifth of each start.
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";

/** ES modules only: a bundle of CommonJS has no named exports. */
const VENDORED =
  /^(?:@langchain\/[^/]+|langchain|langsmith|zod|@anthropic-ai\/sdk|openai|ollama|@modelcontextprotocol\/sdk|unbash|@cfworker\/json-schema|js-tiktoken|yaml)(?:\/|$)/;

export const isVendored = (specifier) => VENDORED.test(specifier);

/** For esbuild: what these packages import in turn is found from where they are, because they may have versions of their own. */
export const vendored = {
  name: "vendored",
  setup(builder) {
    builder.onResolve(
      { filter: /^[@a-z]/, namespace: "file" },
      async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (pluginData === vendored || kind === "entry-point" || isVendored(path)) return;
        if (isBuiltin(path) || !importer.includes("/node_modules/")) return;
        const found = await builder.resolve(path, { kind, importer, resolveDir, pluginData: vendored });
        return found.errors.length > 0 ? { path, external: true } : { path: found.path, external: true };
      },
    );
  },
};

/** Each of `specifiers` becomes `<outdir>/<specifier>/entry.js`. */
export async function vendor(specifiers, outdir, root) {
  await build({
    entryPoints: [...specifiers].map((specifier) => ({ in: specifier, out: `${specifier}/entry` })),
    outdir,
    absWorkingDir: root,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    conditions: [],
    // Its other form is CommonJS in seventy files.
    alias: { yaml: join(root, "node_modules/yaml/browser/index.js") },
    plugins: [vendored],
    format: "esm",
    platform: "node",
    target: "node20.19",
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    logLevel: "warning",
  });
}
