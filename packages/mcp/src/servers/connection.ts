/**
 * A server connection that is kept: started when needed, restarted when lost, closed at the end.
 *
 * Every call is answered within its time, and calls do not delay each other.
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { visibleLine } from "deepwright/console-line";
import { signalAfter } from "deepwright/duration";
import { redactError, releaseSecrets, withoutSecrets } from "deepwright/secrets";
import type { McpNoticeCode } from "../notices.ts";
import type { ToolDescription } from "../tools/offered-tool.ts";
import { type Connected, connect } from "./connect.ts";
import type { HttpDefinition, StdioDefinition } from "./definition.ts";

export interface ConnectionOptions {
  readonly name: string;
  readonly definition: StdioDefinition | HttpDefinition;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds to be ready in. */
  readonly startTimeout: number;
  /** Called each time before a program is started. It throws where that must not be. */
  readonly beforeStart: () => Promise<void>;
  /** Has the tools as the server lists them now. */
  readonly onTools: (tools: readonly ToolDescription[]) => Promise<void>;
  /** Why a tool must not be called now, asked when its server is there. Undefined: it may be. */
  readonly refusal: (tool: string) => string | undefined;
  readonly onNotice: (code: McpNoticeCode, message: string) => void;
}

/** The call never left. */
class ToolHeld extends Error {
  override readonly name = "ToolHeld";
}

/** `idle`: it will be started by the first call. */
export type ConnectionState = "idle" | "starting" | "ready" | "unavailable" | "closed";

export interface Connection {
  readonly state: ConnectionState;
  /** Why it is not there. */
  readonly problem: string | undefined;
  /** Resolves when it is ready or has failed; never rejects. */
  start(): Promise<void>;
  call(tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<unknown>;
  read(uri: string, signal?: AbortSignal): Promise<unknown>;
  /** Ends it with all that it started. Calls at work fail. Safe twice. */
  close(): Promise<void>;
}

const CALL_TIMEOUT = 60_000;
const PING_TIMEOUT = 2_000;
const FIRST_PAUSE = 500;
const MOST_PAUSE = 60_000;
/** A connection that held so long was a good one: the next pause is short again. */
const GOOD_AFTER = 30_000;
/** A caller cuts a pause short, until the connection has failed this often in a row. */
const PATIENT_FAILURES = 4;
const MOST_PAGES = 50;
const MOST_TOOLS = 2_000;

export function openConnection(options: ConnectionOptions): Connection {
  return new SupervisedConnection(options);
}

class SupervisedConnection implements Connection {
  problem: string | undefined;
  private readonly ending = new AbortController();
  private current: Connected | undefined;
  private starting: Promise<Connected> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private failures = 0;
  private readyAt = 0;
  private wasReady = false;
  private checking: Promise<void> | undefined;

  constructor(private readonly options: ConnectionOptions) {}

  get state(): ConnectionState {
    if (this.ending.signal.aborted) return "closed";
    if (this.current) return "ready";
    if (this.starting) return "starting";
    return this.problem === undefined ? "idle" : "unavailable";
  }

  async start(): Promise<void> {
    await this.ready().catch(() => {});
  }

  /** `args` are the server's to check. */
  async call(tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> {
    const params = { name: tool, arguments: args };
    return this.ask(async (client, options) => {
      const refusal = this.options.refusal(tool);
      if (refusal !== undefined) throw new ToolHeld(refusal);
      return client.callTool(params, undefined, options);
    }, signal);
  }

  async read(uri: string, signal?: AbortSignal): Promise<unknown> {
    return this.ask((client, options) => client.readResource({ uri }, options), signal);
  }

  async close(): Promise<void> {
    this.ending.abort();
    clearTimeout(this.retry);
    const { starting } = this;
    await this.current?.close();
    await starting?.then(({ close }) => close()).catch(() => {});
    this.current = undefined;
    releaseSecrets(this);
  }

  private async ask<Answer>(
    request: (client: Client, options: { timeout: number; signal: AbortSignal }) => Promise<Answer>,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const { timeout = CALL_TIMEOUT } = this.options.definition;
    const limit = signalAfter(timeout);
    const until = AbortSignal.any([limit, this.ending.signal, ...(signal ? [signal] : [])]);
    for (let attempt = 1; ; attempt += 1) {
      const connected = await inTime(this.ready(), until).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw limit.aborted ? this.tooLate(timeout) : error;
      });
      try {
        // The SDK tells the server of a cancelled request; its own time-out is only a net.
        const answer = await request(connected.client, { timeout: timeout + 1_000, signal: until });
        this.failures = 0;
        return answer;
      } catch (error) {
        signal?.throwIfAborted();
        if (limit.aborted) {
          void this.check();
          throw this.tooLate(timeout);
        }
        if (!isAnswer(error)) this.lost(connected, wordsOf(error));
        if (attempt > 1 || !wasNotTaken(error)) throw this.failure(error);
      }
    }
  }

  private failure(error: unknown): Error {
    if (isAnswer(error)) return redactError(error as Error);
    return new Error(`The MCP server '${this.name}' was lost during the call: ${wordsOf(error)}`, {
      cause: redactError(error),
    });
  }

  private tooLate(timeout: number): Error {
    return new Error(`The MCP server '${this.name}' did not answer within ${timeout / 1_000} s.`);
  }

  private get name(): string {
    return visibleLine(this.options.name);
  }

  /** One attempt at a time, shared by all waiting calls. */
  private ready(): Promise<Connected> {
    this.ending.signal.throwIfAborted();
    if (this.checking) return this.checking.then(() => this.ready());
    if (this.current) return Promise.resolve(this.current);
    if (this.starting) return this.starting;
    if (this.retry !== undefined && this.failures > PATIENT_FAILURES)
      return Promise.reject(
        new Error(
          `The MCP server '${this.name}' cannot be reached, and is tried again later: ${this.problem}`,
        ),
      );
    clearTimeout(this.retry);
    this.retry = undefined;
    this.starting = this.begin().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  private async begin(): Promise<Connected> {
    const { definition, directory, environment, startTimeout, beforeStart } = this.options;
    let connected: Connected | undefined;
    try {
      connected = await connect({
        owner: this,
        definition,
        directory,
        environment,
        startTimeout,
        beforeStart,
        signal: this.ending.signal,
        onToolsChanged: () => void this.list(this.current?.client),
        onTrouble: () => void this.check(),
        onClose: (complaint) => this.lost(this.current, complaint || "It ended."),
      });
      const tools = await toolsOf(connected.client, startTimeout, this.ending.signal);
      this.problem = undefined;
      await this.options.onTools(tools);
      this.ending.signal.throwIfAborted();
    } catch (error) {
      await connected?.close();
      this.ending.signal.throwIfAborted();
      this.unavailable(wordsOf(error));
      throw new Error(`The MCP server '${this.name}' cannot be reached: ${this.problem}`, { cause: error });
    }
    this.current = connected;
    this.readyAt = performance.now();
    if (this.wasReady || this.failures > 0)
      this.options.onNotice("RECONNECTED", `The MCP server '${this.name}' is there again.`);
    this.wasReady = true;
    return connected;
  }

  private unavailable(why: string): void {
    this.problem = why;
    if (this.failures === 0)
      this.options.onNotice("UNAVAILABLE", `The MCP server '${this.name}' cannot be reached: ${why}`);
    this.again();
  }

  private lost(connected: Connected | undefined, why: string): void {
    if (connected === undefined || this.current !== connected || this.ending.signal.aborted) return;
    this.current = undefined;
    this.problem = why;
    void connected.close();
    if (performance.now() - this.readyAt > GOOD_AFTER) this.failures = 0;
    this.options.onNotice("LOST", `The MCP server '${this.name}' was lost: ${why}`);
    this.again();
  }

  /** The pause doubles; a timer of ours keeps no process alive. */
  private again(): void {
    if (this.retry !== undefined || this.ending.signal.aborted) return;
    const pause = Math.min(FIRST_PAUSE * 2 ** this.failures, MOST_PAUSE);
    this.failures += 1;
    this.retry = setTimeout(() => {
      this.retry = undefined;
      void this.start();
    }, pause);
    this.retry.unref();
  }

  /**
   * Checks that the server still answers; otherwise the connection is closed. Calls that come meanwhile wait for the
   * result.
   */
  private check(): Promise<void> {
    const { current } = this;
    if (current === undefined) return Promise.resolve();
    this.checking ??= current.client
      .ping({ timeout: PING_TIMEOUT })
      .then(
        () => {},
        (error: unknown) => {
          if (!isAnswer(error)) this.lost(current, "It does not answer.");
        },
      )
      .finally(() => {
        this.checking = undefined;
      });
    return this.checking;
  }

  private async list(client: Client | undefined): Promise<void> {
    if (client === undefined) return;
    try {
      await this.options.onTools(await toolsOf(client, this.options.startTimeout, this.ending.signal));
    } catch {
      void this.check();
    }
  }
}

async function toolsOf(client: Client, timeout: number, signal: AbortSignal): Promise<ToolDescription[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools: ToolDescription[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES && tools.length < MOST_TOOLS; page += 1) {
    const listed = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout, signal });
    tools.push(...listed.tools);
    cursor = listed.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, MOST_TOOLS);
}

/**
 * Whether the server answered: with a refusal, or with an answer that cannot be used. Some errors of the SDK mean that
 * no answer came.
 */
function isAnswer(error: unknown): boolean {
  const { name, message = "" } = (error ?? {}) as Partial<Error>;
  if (name === "ZodError" || name === "ToolHeld") return true;
  return name === "McpError" && !NOBODY.test(message);
}

const NOBODY = /^MCP error -3200[01]: (?:Connection closed|Request timed out|\w*Error: )/;

/** Whether the server cannot have begun with the call: it did not know the session, or was not reachable. */
function wasNotTaken(error: unknown): boolean {
  const { code, message = "" } = (error ?? {}) as { code?: unknown; message?: string };
  return code === "ECONNREFUSED" || code === 404 || message === "The program has ended.";
}

function wordsOf(error: unknown): string {
  return visibleLine(withoutSecrets((error as Error | null)?.message ?? String(error)), 1_000);
}

async function inTime<Value>(work: Promise<Value>, until: AbortSignal): Promise<Value> {
  until.throwIfAborted();
  let stop = (): void => {};
  const late = new Promise<never>((_, reject) => {
    stop = () => reject(until.reason);
    until.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    until.removeEventListener("abort", stop);
  }
}
