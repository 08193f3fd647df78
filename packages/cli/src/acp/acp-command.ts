/** `deepwright acp`: the agent of an editor on stdin and stdout. Returns the exit code when the editor leaves. */
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import type { McpServer } from "@agentclientprotocol/sdk";
import type { ApprovalMode } from "@deepwright/server";
import type { Place } from "../app/session/place.ts";
import { CommandError } from "../command-error.ts";
import { KEYED_PROVIDERS } from "../default-models.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { RawAcpOptions } from "./acp-command-line.ts";
import type { SessionChoices } from "./config-options.ts";
import type { Editor } from "./editor.ts";
import type { EditorSession } from "./editor-session.ts";
import { EditorTurns } from "./editor-turns.ts";
import type { ThreadShelf } from "./thread-shelf.ts";

export async function acpCommand(raw: RawAcpOptions): Promise<ExitCode> {
  const write = process.stdout.write.bind(process.stdout);
  if (raw.printConfig !== undefined) {
    const { editorConfig } = await import("./print-config.ts");
    write(editorConfig(raw.printConfig, raw));
    return EXIT.done;
  }
  if (process.stdin.isTTY)
    process.stderr.write(
      "This is for editors, which start it themselves. Settings to paste: deepwright acp --print-config zed\n",
    );
  // Only messages of the protocol may reach the editor.
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  const [{ ndJsonStream }, { acpAgent }, { EditorSessions }] = await Promise.all([
    import("@agentclientprotocol/sdk"),
    import("./acp-agent.ts"),
    import("./editor-sessions.ts"),
  ]);
  let editor: Editor | undefined;
  const turns = new EditorTurns();
  const sessions = new EditorSessions({
    editor: () => known(editor),
    shelf: await shelfOf(raw, process.env),
    mode: raw.mode as ApprovalMode | undefined,
    environment: process.env,
    places: (servers) => (choices, session) => openPlace({ raw, servers, turns }, choices, session),
  });
  const app = acpAgent({
    version: versionOf(),
    isUnstable: raw.unstable === true,
    checkModel: () => checkModel(raw),
    signOut,
    onEditor: (found) => {
      editor = found;
    },
    sessions,
  });
  const output = new Writable({
    write: (chunk, _encoding, done) => void write(chunk, (error) => done(error)),
  });
  const connection = app.connect(
    ndJsonStream(Writable.toWeb(output), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>),
  );
  await Promise.race([connection.closed.catch(() => undefined), signalled()]);
  await sessions.closeAll();
  return EXIT.done;
}

function known(editor: Editor | undefined): Editor {
  if (editor) return editor;
  throw new CommandError("The editor must call initialize first.");
}

/** Editors end their agents with a signal, too. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(name, () => resolve());
  });
}

async function shelfOf({ connect, db }: RawAcpOptions, environment: NodeJS.ProcessEnv): Promise<ThreadShelf> {
  const { localShelf, remoteShelf } = await import("./thread-shelf.ts");
  if (connect === undefined) return localShelf(db, environment);
  const { openRemote } = await import("../app/session/remote-place.ts");
  return remoteShelf((await openRemote(connect, environment)).client);
}

interface PlaceParts {
  readonly raw: RawAcpOptions;
  readonly servers: readonly McpServer[];
  /** Shared by all sessions: several may work in one directory. */
  readonly turns: EditorTurns;
}

async function openPlace(
  { raw, servers, turns }: PlaceParts,
  choices: Partial<SessionChoices>,
  session: EditorSession,
): Promise<Place> {
  if (raw.connect !== undefined) {
    const { openRemote } = await import("../app/session/remote-place.ts");
    return openRemote(raw.connect, process.env);
  }
  const [{ openLocal }, { withBuffers }, { clientServers }, { terminalCommands }] = await Promise.all([
    import("../app/session/local-place.ts"),
    import("./editor-files.ts"),
    import("./client-servers.ts"),
    import("./terminal-commands.ts"),
  ]);
  const { id: sessionId, editor, directory } = session;
  const terminals = { editor, sessionId, directory, onTerminal: session.noteTerminal };
  const buffers = { editor, sessionId, directory, turns, isOpen: () => session.isAnnounced };
  const place = await openLocal(
    {
      directory,
      model: choices.model ?? raw.model,
      baseUrl: raw.baseUrl,
      db: raw.db,
      mode: raw.mode as ApprovalMode | undefined,
      effort: choices.effort,
      mcp: raw.mcp ?? true,
      servers: clientServers(servers),
      editor: {
        files: (disk) => withBuffers(disk, buffers),
        guard: turns.guard,
        ...(choices.commands === "editor" && { commands: terminalCommands(terminals) }),
      },
    },
    process.env,
  );
  if (place.isOffline && choices.model === undefined) await refuseOffline(raw, place);
  for (const line of place.notices) process.stderr.write(`${line}\n`);
  return place;
}

/** Nobody who works in an editor wants the offline model unless they name it. */
async function refuseOffline(raw: RawAcpOptions, place: Place): Promise<void> {
  const isNamed = raw.model === "offline" || process.env.DEEPWRIGHT_MODEL === "offline";
  if (isNamed) return;
  await place.close();
  await authRequired();
}

async function authRequired(): Promise<never> {
  const { RequestError } = await import("@agentclientprotocol/sdk");
  throw RequestError.authRequired(
    undefined,
    "no model can be used. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_API_KEY for the agent, or run: deepwright login",
  );
}

/** Throws where no key and no server of models is found. */
async function checkModel({ model, baseUrl }: RawAcpOptions): Promise<void> {
  const [{ chooseModel }, { endpoints }, { loadStoredKeys }] = await Promise.all([
    import("../model/choose.ts"),
    import("../model/endpoints.ts"),
    import("../login/stored-keys.ts"),
  ]);
  await loadStoredKeys(process.env);
  const wish = { ...(model !== undefined && { model }), ...(baseUrl !== undefined && { baseUrl }) };
  const choice = await chooseModel(wish, process.env, endpoints);
  if (choice.kind === "offline" && model !== "offline" && process.env.DEEPWRIGHT_MODEL !== "offline")
    await authRequired();
}

/** The providers that an editor is told to sign in to. A variable that the editor sets for the agent stays. */
async function signOut(): Promise<void> {
  const { removeKeys } = await import("../login/stored-keys.ts");
  await removeKeys(
    KEYED_PROVIDERS.map(({ provider }) => provider),
    process.env,
  );
}

function versionOf(): string {
  // One level above both `src` and `dist`, as in main.ts.
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
