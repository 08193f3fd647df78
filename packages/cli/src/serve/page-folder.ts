/** The built page, which the server hands out at `/`. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Undefined: it is not installed, or not built in this clone. */
export function pageFolder(): string | undefined {
  let manifest: string;
  try {
    manifest = fileURLToPath(import.meta.resolve("@deepwright/web/package.json"));
  } catch {
    return undefined;
  }
  const folder = join(dirname(manifest), "dist");
  return existsSync(join(folder, "index.html")) ? folder : undefined;
}
