import type { Plugin } from "esbuild";

export function isVendored(specifier: string): boolean;

export const vendored: Plugin;

export function vendor(specifiers: Iterable<string>, outdir: string, root: string): Promise<void>;
