/** Which servers of projects a person has agreed to, by a hash of all that such a server is. */
import { createHash, randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigurationError } from "deepwright/errors";
import { z } from "zod";
import type { McpServerDefinition } from "./definition.ts";

/** What an agreement is about. */
export interface TrustSubject {
  /** The real path of the directory whose `.mcp.json` has it. */
  readonly project: string;
  readonly name: string;
  /** As it is written, variables not filled in. */
  readonly definition: McpServerDefinition;
}

/** Changes with anything that is changed: another word in the definition, another name, another place. */
export function definitionHash({ project, name, definition }: TrustSubject): string {
  return createHash("sha256")
    .update(canonicalJson([project, name, definition]))
    .digest("hex");
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

export interface TrustStore {
  has(subject: TrustSubject): Promise<boolean>;
  add(subject: TrustSubject): Promise<void>;
  /** Forgets every agreement to a server of this name in this project. False: there was none. */
  remove(project: string, name: string): Promise<boolean>;
}

const schema = z.object({
  version: z.literal(1),
  trusted: z.record(z.string(), z.object({ project: z.string(), name: z.string(), at: z.string() })),
});
type Trusted = z.infer<typeof schema>["trusted"];

/** A file that cannot be read as what it should be trusts nothing, and is said so by an error. */
export function openTrustStore(path: string): TrustStore {
  return {
    has: async (subject) => Object.hasOwn(await read(path), definitionHash(subject)),
    add: async (subject) => {
      const { project, name } = subject;
      const entry = { project, name, at: new Date().toISOString() };
      await write(path, { ...(await read(path)), [definitionHash(subject)]: entry });
    },
    remove: async (project, name) => {
      const trusted = await read(path);
      const kept = Object.entries(trusted).filter(([, one]) => one.project !== project || one.name !== name);
      if (kept.length === Object.keys(trusted).length) return false;
      await write(path, Object.fromEntries(kept));
      return true;
    },
  };
}

async function read(path: string): Promise<Trusted> {
  const facts = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  if (facts === undefined) return {};
  const uid = process.getuid?.();
  if (!facts.isFile() || (uid !== undefined && facts.uid !== uid)) throw unusable(path);
  if ((facts.mode & 0o077) !== 0) await chmod(path, 0o600);
  try {
    return schema.parse(JSON.parse(await readFile(path, "utf8"))).trusted;
  } catch (cause) {
    throw unusable(path, cause);
  }
}

/** Readers see the file before or after, never half of it. */
async function write(path: string, trusted: Trusted): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(next, `${JSON.stringify({ version: 1, trusted }, undefined, 2)}\n`, {
      flag: "wx",
      mode: 0o600,
    });
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

function unusable(path: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `${path} is not the list of trusted MCP servers.`, {
    hint: "Remove it: you are asked again.",
    cause,
  });
}
