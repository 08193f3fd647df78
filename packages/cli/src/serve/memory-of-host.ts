/** Memory files for the page of `deepwright serve`: their state, their content, and what a review of threads proposes. */
import { basename, dirname, isAbsolute, join } from "node:path";
import type { SettingsOfHost } from "@deepwright/server";
import type { BackendProtocol } from "deepwright";
import { MEMORY_FILE, openMemoryFiles } from "../memory/memory-files.ts";
import { loadModel } from "../model/load.ts";
import { homeOf } from "../state/home.ts";
import type { OwnAgent } from "./own-agent.ts";

interface MemoryOfHost {
  list(): Promise<Awaited<ReturnType<SettingsOfHost["facts"]>>["memory"]>;
  /** Holds the memory files and nothing else. */
  readonly backend: BackendProtocol;
  readonly propose: SettingsOfHost["propose"];
}

interface Place {
  readonly path: string;
  readonly shown: string;
  /** The user's own: always trusted. */
  readonly isOwn: boolean;
}

const USER = "/.user";

export async function memoryOfHost(
  own: OwnAgent,
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<MemoryOfHost> {
  const { CompositeBackend, FilesystemBackend, guardBackend } = await import("deepwright");
  const { ProjectFiles } = await import("../run/project-files.ts");
  const named = own.settings.memory?.files ?? [];
  const users = [join(homeOf(env), "AGENTS.md"), ...named.filter((name) => isAbsolute(name))];
  const places: readonly Place[] = [
    ...[MEMORY_FILE, ...named.filter((name) => !isAbsolute(name)).map((name) => `/${name}`)].map((path) => ({
      path,
      shown: join(directory, path),
      isOwn: false,
    })),
    ...users.map((shown, at) => ({ path: `${USER}/${at}/${basename(shown)}`, shown, isOwn: true })),
  ];
  const mounts = users.map(
    (path, at) =>
      [`${USER}/${at}/`, new FilesystemBackend({ rootDir: dirname(path), virtualMode: true })] as const,
  );
  const project = new ProjectFiles({ rootDir: directory, virtualMode: true, approve: () => false });
  const all = new CompositeBackend(project, Object.fromEntries(mounts));
  const backend = guardBackend(all, [
    { operations: ["read", "write"], paths: places.map(({ path }) => escaped(path)), mode: "allow" },
    { operations: ["read", "write"], paths: ["/**"], mode: "deny" },
  ]) as BackendProtocol;
  return {
    backend,
    list: () => Promise.all(places.map((place) => stateOf(place, backend, own))),
    propose: (context) => propose(own, directory, context, env),
  };
}

/** Names may hold characters that mean something in a glob. */
function escaped(path: string): string {
  return path.replace(/[*?[\]{}\\]/g, "?");
}

async function stateOf({ path, shown, isOwn }: Place, backend: BackendProtocol, { workplace }: OwnAgent) {
  const [file] = (await backend.downloadFiles?.([path])) ?? [];
  const text = file?.content ? new TextDecoder().decode(file.content) : undefined;
  const isTrusted = isOwn || text === undefined || !workplace.trust.sources.memory(path, text);
  return { path, shown_path: shown, is_there: text !== undefined, is_trusted: isTrusted };
}

/** A dry run of `deepwright memory consolidate` on the threads of the server. */
async function propose(
  { choice }: OwnAgent,
  directory: string,
  { saver, isOfAgent, signal }: Parameters<SettingsOfHost["propose"]>[0],
  env: NodeJS.ProcessEnv,
): ReturnType<SettingsOfHost["propose"]> {
  const [{ createConsolidationAgent }, { conversationsOf }, model, { backend }] = await Promise.all([
    import("deepwright/consolidation"),
    import("@deepwright/checkpoint"),
    loadModel(choice),
    openMemoryFiles(directory, false, env),
  ]);
  const before = await textIn(backend);
  const agent = createConsolidationAgent({
    model,
    conversations: conversationsOf(saver, {
      claimScope: directory,
      where: ({ threadId }) => isOfAgent(threadId),
    }),
    memory: [MEMORY_FILE],
    backend,
  });
  const { status, conversations, files, error } = await agent.consolidate({
    signal,
    // Answers of the model are streamed then, as in runs.
    onPart: () => {},
  });
  if (status === "failed") throw error;
  const after = await textIn(backend);
  const refused = files.find((file) => file.refused !== undefined)?.refused;
  return {
    message: refused ?? messageFor(choice.kind, status, after !== before),
    conversations: conversations.length,
    files: after === before ? [] : [{ path: MEMORY_FILE, before, after }],
  };
}

function messageFor(model: OwnAgent["choice"]["kind"], status: string, isChanged: boolean): string {
  if (status === "nothing-new") return "There are no threads that were not reviewed yet.";
  if (model === "offline") return "The offline model cannot judge what is worth remembering.";
  return isChanged ? "The review proposes this change." : "The review proposes no change.";
}

async function textIn(backend: BackendProtocol): Promise<string> {
  const [file] = (await backend.downloadFiles?.([MEMORY_FILE])) ?? [];
  return file?.content ? new TextDecoder().decode(file.content) : "";
}
