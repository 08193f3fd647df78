/** Hands out the files of a page. All of them were listed at the start: no other name is ever opened. */
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { ConfigurationError } from "deepwright";

export interface StaticPage {
  has(path: string): boolean;
  answer(path: string): Promise<Response>;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

/** No script, style or request but the server's own, and no text that becomes markup by assignment. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** Files below `assets` have a hash of their content in their names. */
const HASHED = "/assets/";

/** `folder` has an `index.html`, which is the answer for `/`. */
export async function openStaticPage(folder: string): Promise<StaticPage> {
  const files = await filesBelow(folder);
  const index = files.get("/index.html");
  if (index === undefined)
    throw new ConfigurationError("INVALID_OPTION", `The page ${folder} has no index.html.`);
  files.set("/", index);
  return {
    has: (path) => files.has(path),
    answer: async (path) => {
      const file = files.get(path) as string;
      return new Response(await readFile(file), { headers: headersOf(path, file) });
    },
  };
}

async function filesBelow(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((cause) => {
    throw new ConfigurationError("INVALID_OPTION", `The page ${folder} cannot be read.`, { cause });
  });
  const files = entries.filter((entry) => entry.isFile() && extname(entry.name) in TYPES);
  return new Map(
    files.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [`/${relative(folder, file).replaceAll(sep, "/")}`, file];
    }),
  );
}

function headersOf(path: string, file: string): Record<string, string> {
  return {
    "content-type": TYPES[extname(file)] as string,
    "cache-control": path.startsWith(HASHED) ? "public, max-age=31536000, immutable" : "no-cache",
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
  };
}
