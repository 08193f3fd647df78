/** Settings of the machine, schedules and webhooks, as the server gives them. */
import { ProtocolError } from "@deepwright/protocol/live";
import { signal } from "@preact/signals";
import { call, request } from "../state/connection.ts";

export interface MemoryFile {
  readonly path: string;
  readonly shown_path: string;
  readonly is_there: boolean;
  readonly is_trusted: boolean;
}

export interface HostSettings {
  readonly directory: string;
  readonly model: string;
  readonly providers: readonly {
    readonly name: string;
    readonly key: string;
    readonly is_present: boolean;
    readonly model?: string;
  }[];
  readonly model_servers: readonly {
    readonly title: string;
    readonly url: string;
    readonly models: readonly string[] | null;
  }[];
  readonly approval_mode: string;
  readonly sandbox: string;
  readonly permissions: readonly {
    readonly operations: readonly string[];
    readonly paths: readonly string[];
    readonly mode: string;
  }[];
  readonly commands: Readonly<Record<"allow" | "ask" | "deny", readonly string[]>>;
  readonly allowed: readonly AllowedCall[];
  readonly settings_files: readonly {
    readonly path: string;
    readonly is_there: boolean;
    readonly is_trusted: boolean;
  }[];
  readonly mcp_servers: readonly {
    readonly name: string;
    readonly origin: string;
    readonly state: string;
    readonly problem?: string;
    readonly tools: readonly string[];
  }[];
  readonly skills: readonly {
    readonly name: string;
    readonly description: string;
    readonly path: string;
    readonly is_trusted: boolean;
  }[];
  readonly memory: readonly MemoryFile[];
}

export interface AllowedCall {
  readonly tool: string;
  readonly prefix?: readonly string[];
}

/** The agent whose directory the settings are about. Empty: the first of the server. */
export const settingsAgent = signal("");
/** `loading` until the first answer; `none`: the server shows none. */
export const hostSettings = signal<HostSettings | "loading" | "none">("loading");

const ofAgent = () => ({ query: settingsAgent.peek() === "" ? {} : { assistant_id: settingsAgent.peek() } });

export async function readHostSettings(): Promise<void> {
  const agent = settingsAgent.peek();
  const read = await call<HostSettings>("GET", "/settings", ofAgent()).catch((error: unknown) => {
    if (error instanceof ProtocolError && error.code === "NOT_SUPPORTED") return "none" as const;
    throw error;
  });
  if (agent === settingsAgent.peek()) hostSettings.value = read;
}

/** Another directory; what was read of the one before is dropped. */
export async function showSettingsOf(agent: string): Promise<void> {
  if (agent !== settingsAgent.peek()) {
    settingsAgent.value = agent;
    hostSettings.value = "loading";
    proposals.value = undefined;
  }
  await readHostSettings();
}

export interface Explanation {
  readonly decision: string;
  readonly reason: string;
}

export const explain = (body: object): Promise<Explanation> =>
  call("POST", "/settings/explain", { ...ofAgent(), body });

export async function takeBack(rule: AllowedCall): Promise<void> {
  await call("POST", "/settings/allowed/forget", { ...ofAgent(), body: rule });
  await readHostSettings();
}

export interface MemoryText {
  readonly text: string;
  /** null: the file is not there yet. */
  readonly etag: string | null;
}

export async function readMemory({ path, is_there: isThere }: MemoryFile): Promise<MemoryText> {
  if (!isThere) return { text: "", etag: null };
  const response = await request("GET", "/settings/memory", { query: { ...ofAgent().query, path } });
  return { text: await response.text(), etag: response.headers.get("etag") };
}

export async function saveMemory(path: string, content: string, etag: string | null): Promise<void> {
  const headers: Readonly<Record<string, string>> =
    etag === null ? { "if-none-match": "*" } : { "if-match": etag };
  await call("PUT", "/settings/memory", { ...ofAgent(), body: { path, content }, headers });
  await readHostSettings();
}

export interface Proposals {
  readonly status: "none" | "working" | "done" | "failed";
  readonly message: string;
  readonly conversations: number;
  readonly files: readonly { readonly path: string; readonly before: string; readonly after: string }[];
}

export const proposals = signal<Proposals | undefined>(undefined);

const PAUSE_MS = 1_000;

/** Follows a review until it has ended, or until the settings show another directory. */
export async function followReview(method: "GET" | "POST"): Promise<void> {
  const agent = settingsAgent.peek();
  const look = async (how: "GET" | "POST"): Promise<boolean> => {
    const found = await call<Proposals>(how, "/settings/memory/proposals", ofAgent());
    if (agent !== settingsAgent.peek()) return false;
    proposals.value = found;
    return found.status === "working";
  };
  for (let works = await look(method); works; works = await look("GET"))
    await new Promise((done) => setTimeout(done, PAUSE_MS));
}

export interface Cron {
  readonly cron_id: string;
  readonly assistant_id: string;
  readonly thread_id: string | null;
  readonly schedule: string;
  readonly timezone: string | null;
  readonly enabled: boolean;
  readonly next_run_date: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

const MOST_CRONS = 200;

export const readCrons = (): Promise<readonly Cron[]> =>
  call("POST", "/runs/crons/search", { body: { limit: MOST_CRONS } });

const onCron = ({ cron_id }: Cron) => ({ parameters: { cron_id } });

export async function setEnabled(cron: Cron, enabled: boolean): Promise<void> {
  await call("PATCH", "/runs/crons/:cron_id", { ...onCron(cron), body: { enabled } });
}

export async function removeCron(cron: Cron): Promise<void> {
  await call("DELETE", "/runs/crons/:cron_id", onCron(cron));
}

export interface Delivery {
  readonly run_id: string;
  readonly host: string;
  readonly status: string;
  readonly attempts: number;
  readonly answer: number | null;
}

export async function readDeliveries(): Promise<readonly Delivery[]> {
  return (await call<{ readonly webhooks: readonly Delivery[] }>("GET", "/settings/webhooks")).webhooks;
}
