/**
 * A person's agreements: to servers of projects, by a hash of the whole definition and of the files it names, and to tools
 * of servers, by a hash of their descriptions.
 */
import { createHash } from "node:crypto";
import { ConfigurationError } from "deepwright/errors";
import { z } from "zod";
import type { McpServerDefinition } from "../servers/definition.ts";
import type { ToolDescription } from "../tools/offered-tool.ts";
import {
  type ServerTools,
  serverTools,
  type ToolChange,
  withListed,
  withoutChange,
} from "./approved-tools.ts";
import { canonicalJson } from "./canonical-json.ts";
import { type FileChange, fileChanges, type NamedFile } from "./named-files.ts";
import { readPrivateFile, writePrivateFile } from "./private-file.ts";

/** The server that an agreement is about. */
export interface TrustSubject {
  /** The real path of the directory with the `.mcp.json`. */
  readonly project: string;
  readonly name: string;
  /** The definition in its file, variables not filled in. */
  readonly definition: McpServerDefinition;
  /** Files of the project that the definition names, as they are now. */
  readonly files?: readonly Pick<NamedFile, "path" | "hash">[];
}

/** Changes with anything that is changed: another word in the definition, another name, another place, another file. */
export function definitionHash({ project, name, definition, files = [] }: TrustSubject): string {
  const contents = files.length > 0 ? [files.map(({ path, hash }) => [path, hash])] : [];
  return createHash("sha256")
    .update(canonicalJson([project, name, definition, ...contents]))
    .digest("hex");
}

/** Agreements are found by the definition alone, so that it is known which files changed since. */
function keyOf({ project, name, definition }: TrustSubject): string {
  return definitionHash({ project, name, definition });
}

export interface TrustStore {
  /** Whether a person agreed to the definition with these files. */
  has(subject: TrustSubject): Promise<boolean>;
  /** Files that changed since the definition was agreed to; undefined: no person agreed to it. */
  changedFiles(subject: TrustSubject): Promise<readonly FileChange[] | undefined>;
  add(subject: TrustSubject): Promise<void>;
  /** Forgets every agreement to a server of this name in this project. False: there was none. */
  remove(project: string, name: string): Promise<boolean>;
  /**
   * The tools of a server that are not described as they were when they were agreed to; they are kept as pending. Tools
   * that were never seen are agreed to. `before` are descriptions that were seen earlier.
   */
  listed(
    subject: TrustSubject,
    tools: readonly ToolDescription[],
    before: readonly ToolDescription[],
  ): Promise<readonly ToolChange[]>;
  /** The tools that wait for a yes. */
  changedTools(subject: TrustSubject): Promise<readonly ToolChange[]>;
  approveTool(subject: TrustSubject, tool: string): Promise<void>;
}

const schema = z.object({
  version: z.literal(1),
  trusted: z.record(
    z.string(),
    z.object({
      project: z.string(),
      name: z.string(),
      at: z.string(),
      files: z.array(z.object({ path: z.string(), hash: z.string() })).optional(),
    }),
  ),
  /** By the hash of the server's definition. */
  tools: z.record(z.string(), serverTools).optional(),
});
type Kept = Omit<z.infer<typeof schema>, "version">;

/** Without a path everything is forgotten with the process. A damaged file is an error. */
export function openTrustStore(path?: string): TrustStore {
  const file = path === undefined ? keptInMemory() : keptIn(path);
  const update = (change: (kept: Kept) => Kept): Promise<boolean> =>
    inTurn(path ?? file, async () => {
      const kept = await file.read();
      const next = change(kept);
      if (next !== kept) await file.write(next);
      return next !== kept;
    });
  const updateTools = (subject: TrustSubject, change: (tools: ServerTools | undefined) => ServerTools) =>
    update((kept) => {
      const hash = keyOf(subject);
      const [before, after] = [kept.tools?.[hash], change(kept.tools?.[hash])];
      return after === before ? kept : { ...kept, tools: { ...kept.tools, [hash]: after } };
    });
  const changedTools = async (subject: TrustSubject): Promise<readonly ToolChange[]> =>
    (await file.read()).tools?.[keyOf(subject)]?.pending ?? [];
  const changedFiles: TrustStore["changedFiles"] = async (subject) => {
    const { trusted } = await file.read();
    const entry = Object.hasOwn(trusted, keyOf(subject)) ? trusted[keyOf(subject)] : undefined;
    return entry && fileChanges(entry.files ?? [], subject.files ?? []);
  };
  return {
    has: async (subject) => (await changedFiles(subject))?.length === 0,
    changedFiles,
    add: async (subject) => {
      const { project, name } = subject;
      const files = (subject.files ?? []).map(({ path, hash }) => ({ path, hash }));
      const entry = { project, name, at: new Date().toISOString(), ...(files.length > 0 && { files }) };
      await update((kept) => ({ ...kept, trusted: { ...kept.trusted, [keyOf(subject)]: entry } }));
    },
    remove: (project, name) => update((kept) => without(kept, project, name)),
    listed: async (subject, tools, before) => {
      await updateTools(subject, (known) => withListed(known, subject.name, tools, before));
      return changedTools(subject);
    },
    changedTools,
    approveTool: async (subject, tool) => {
      await updateTools(subject, (known) => withoutChange(known, subject.name, tool));
    },
  };
}

function without(kept: Kept, project: string, name: string): Kept {
  const gone = Object.entries(kept.trusted).filter(([, one]) => one.project === project && one.name === name);
  if (gone.length === 0) return kept;
  const hashes = new Set(gone.map(([hash]) => hash));
  const rest = <Value>(record: Record<string, Value>): Record<string, Value> =>
    Object.fromEntries(Object.entries(record).filter(([hash]) => !hashes.has(hash)));
  return { trusted: rest(kept.trusted), tools: rest(kept.tools ?? {}) };
}

interface KeptFile {
  read(): Promise<Kept>;
  write(kept: Kept): Promise<void>;
}

function keptInMemory(): KeptFile {
  let kept: Kept = { trusted: {} };
  return {
    read: async () => kept,
    write: async (next) => {
      kept = next;
    },
  };
}

function keptIn(path: string): KeptFile {
  return {
    read: async () => {
      const text = await readPrivateFile(path);
      if (text === undefined) return { trusted: {} };
      try {
        return schema.parse(JSON.parse(text));
      } catch (cause) {
        throw unusable(path, cause);
      }
    },
    write: ({ trusted, tools }) =>
      writePrivateFile(path, `${JSON.stringify({ version: 1, trusted, tools }, undefined, 2)}\n`),
  };
}

const turns = new Map<unknown, Promise<unknown>>();

/**
 * Servers start in parallel, so changes are made one after the other: each starts from the file that the last one
 * wrote.
 */
async function inTurn<Result>(key: unknown, work: () => Promise<Result>): Promise<Result> {
  const mine = (turns.get(key) ?? Promise.resolve()).then(work, work);
  turns.set(key, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(key) === mine) turns.delete(key);
  }
}

function unusable(path: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `${path} is not the list of trusted MCP servers.`, {
    hint: "Remove it; you will be asked again.",
    cause,
  });
}
