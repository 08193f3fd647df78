// Builds the page into packages/web/dist, unless its sources are those of the last build. As a program: builds it and prints its size.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const WEB = join(ROOT, "packages", "web");
export const PAGE = join(WEB, "dist");
const SOURCES = [
  join(WEB, "src"),
  join(WEB, "index.html"),
  join(WEB, "approve.html"),
  join(ROOT, "packages", "protocol", "src"),
  fileURLToPath(import.meta.url),
];

/** Returns the folder of the built page. */
export async function buildPage() {
  const sources = hashOfSources();
  const stamp = join(PAGE, ".sources");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === sources) return PAGE;
  const { build } = await import("vite");
  const fresh = `${PAGE}-${process.pid}`;
  try {
    await build(settings(fresh));
    writeFileSync(join(fresh, ".sources"), sources);
    const old = `${fresh}-old`;
    if (existsSync(PAGE)) renameSync(PAGE, old);
    renameSync(fresh, PAGE);
    rmSync(old, { recursive: true, force: true });
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return PAGE;
}

/** The page uses the lexer of `marked` alone. Without this the parser and the renderer to HTML would be in the bundle, too. */
const lexerOnly = {
  name: "lexer-only",
  transform(code, id) {
    if (!id.endsWith("/marked.esm.js")) return;
    const end = code.indexOf("var markedInstance = new Marked()");
    if (end === -1)
      throw new Error("marked.esm.js has another form than expected: see lexerOnly in build-web.mjs.");
    return { code: `${code.slice(0, end)}\nexport { _Lexer as Lexer, _Tokenizer as Tokenizer };`, map: null };
  },
};

const settings = (outDir) => ({
  root: WEB,
  configFile: false,
  envDir: false,
  logLevel: "warn",
  publicDir: false,
  resolve: {
    alias: { "@deepwright/protocol/live": join(ROOT, "packages", "protocol", "src", "live", "index.ts") },
  },
  plugins: [lexerOnly],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir,
    emptyOutDir: true,
    target: "es2022",
    // Inline data would need a looser policy for the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What the first view needs is one file: parts that later views share would be files of their own, which compress worse.
    rolldownOptions: {
      input: [join(WEB, "index.html"), join(WEB, "approve.html")],
      output: {
        codeSplitting: {
          groups: [
            { name: neededByAll, debugName: "both pages", priority: 2 },
            { name: firstView, debugName: "first view", priority: 1 },
          ],
        },
      },
    },
  },
});

/** Names the chunk of modules that the page imports, at any depth, without `import()`. */
function firstView(id, modules) {
  return [...entriesOf(id, modules)].some((entry) => !entry.includes("approve")) ? "index" : null;
}

/** Names the chunk of modules that the page and the page of one decision import. */
function neededByAll(id, modules) {
  return entriesOf(id, modules).size > 1 ? "shared" : null;
}

function entriesOf(id, modules) {
  const entries = new Set();
  const seen = new Set();
  const look = (one) => {
    if (seen.has(one)) return;
    seen.add(one);
    const info = modules.getModuleInfo(one);
    if (info?.isEntry) entries.add(one);
    info?.importers.forEach(look);
  };
  look(id);
  return entries;
}

function hashOfSources() {
  const hash = createHash("sha256").update(readFileSync(join(ROOT, "package-lock.json")));
  for (const path of SOURCES.flatMap(filesIn).sort())
    if (!/\.test\.|for-tests/.test(path)) hash.update(path.slice(ROOT.length)).update(readFileSync(path));
  return hash.digest("hex");
}

function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Bytes of gzip before the first message, and of everything but languages. */
export function pageSizes() {
  const index = readFileSync(join(PAGE, "index.html"), "utf8");
  const sizes = new Map(
    filesIn(join(PAGE, "assets"))
      .filter((path) => /^\.(?:js|css)$/.test(extname(path)))
      .map((path) => [path.slice(PAGE.length + 1), gzipSync(readFileSync(path)).length]),
  );
  const named = [...sizes].filter(([name]) => index.includes(name));
  const sum = (list) => list.reduce((total, [, bytes]) => total + bytes, gzipSync(index).length);
  const languages = new Set(languageFiles());
  return {
    first: sum(named),
    all: sum([...sizes].filter(([name]) => !languages.has(name.replace(/^assets\/|-[\w-]{8}\.js$/g, "")))),
    files: Object.fromEntries(sizes),
  };
}

/** Names of the languages of the highlighter: each is a file of its own. */
function languageFiles() {
  const core = createRequire(import.meta.url).resolve("highlight.js/lib/core");
  return readdirSync(join(dirname(core), "languages")).map((name) => name.replace(/\.js$/, ""));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await buildPage());
  const { first, all } = pageSizes();
  console.log(
    `gzip: ${(first / 1000).toFixed(1)} kB before the first message, ${(all / 1000).toFixed(1)} kB in all without languages`,
  );
}
