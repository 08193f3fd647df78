/**
 * Keeps the tools that MCP servers offered last, in a file for each server.
 *
 * With it a server starts when one of its tools is called and not before, and a changed tool is noticed.
 */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { toolDescription } from "../trust/tool-description.ts";
import type { ToolDescription } from "./offered-tool.ts";

export interface ToolCache {
  /** Undefined: this server was never asked. Without `isFresh` the tools are older than a day. */
  get(
    hash: string,
  ): Promise<{ readonly tools: readonly ToolDescription[]; readonly isFresh: boolean } | undefined>;
  put(hash: string, tools: readonly ToolDescription[]): Promise<void>;
}

/** Tools older than this are asked for again before they are offered. */
const FRESH_MS = 24 * 60 * 60 * 1_000;

const schema = z.object({ at: z.number(), tools: z.array(toolDescription) });

export function openToolCache(home: string): ToolCache {
  const pathOf = (hash: string): string => join(home, "mcp-tools", `${hash}.json`);
  return {
    async get(hash) {
      const text = await readFile(pathOf(hash), "utf8").catch(() => undefined);
      if (text === undefined) return undefined;
      try {
        const { at, tools } = schema.parse(JSON.parse(text));
        return { tools, isFresh: Math.abs(Date.now() - at) < FRESH_MS };
      } catch {
        // A damaged file counts as absent; the next answer of the server replaces it.
        return undefined;
      }
    },
    async put(hash, tools) {
      const path = pathOf(hash);
      const next = `${path}.${randomBytes(6).toString("hex")}`;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      try {
        await writeFile(next, JSON.stringify(schema.parse({ at: Date.now(), tools })), { mode: 0o600 });
        await rename(next, path);
      } catch (error) {
        await rm(next, { force: true });
        throw error;
      }
    },
  };
}
