/** Builds the page into the folder that is named: `node build.mjs dist`. Further names are conditions of packages. */
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const [folder = "dist", ...conditions] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
await copyFile(join(import.meta.dirname, "index.html"), join(folder, "index.html"));
await build({
  entryPoints: [join(import.meta.dirname, "page.jsx")],
  outfile: join(folder, "page.js"),
  bundle: true,
  ...(conditions.length > 0 && { conditions }),
  format: "esm",
  target: "es2022",
  minify: true,
  define: { "process.env.NODE_ENV": '"production"' },
  // A tsconfig around the page may name another library than React.
  tsconfigRaw: { compilerOptions: { jsx: "react-jsx", jsxImportSource: "react" } },
});
