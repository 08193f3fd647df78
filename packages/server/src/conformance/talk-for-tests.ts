/** A conversation of LangGraph SDK's Client with one server, of which every answer is noted. */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@langchain/langgraph-sdk";
import { until } from "../../../../scripts/test-time.ts";

export const RESOURCES = ["assistants", "threads", "runs", "store", "crons"] as const;
export type Method = `${(typeof RESOURCES)[number]}.${string}`;

/** One call of the Client as a test compares it. */
export interface Noted {
  /** `threads.get`, or with what is special about the call: `threads.get (unknown)`. */
  readonly name: string;
  readonly method: Method;
  readonly answer: {
    readonly value?: unknown;
    /** Events of a stream. */
    readonly events?: NotedEvents;
    /** HTTP status of a refused request. */
    readonly status?: number;
  };
}

export type NotedEvents = readonly { readonly event: string; readonly data: unknown }[];

type CallName = Method | `${Method} (${string})`;

/** Status of a run or a thread. */
type Status = string | undefined;

export interface Talk {
  /** Calls a method of the Client and notes what came. Undefined when the server refused. */
  call(name: CallName, ...args: readonly unknown[]): Promise<any>;
  /** A stream that has no end by itself, until so many runs have ended in it. Resolves when the server sends it. */
  follow(name: CallName, runs: number, ...args: readonly unknown[]): Promise<Followed>;
  /** Expected answer of our own server; the other one is not asked. */
  here(claim: () => void): void;
  /** Waits for a status, by calls that are not noted. A server that has none, or never comes there, ends the scenario. */
  until(status: (client: Client) => Promise<Status>, isReached: (status: string) => boolean): Promise<void>;
}

interface Followed {
  readonly events: Promise<StreamPart[] | undefined>;
}

export interface Scenario {
  readonly name: string;
  run(talk: Talk): Promise<void>;
}

export interface Server {
  readonly url: string;
  readonly apiKey?: string;
}

/** Other servers may never come where ours must. */
const OTHERS_MS = 60_000;

/**
 * The calls of one scenario, up to where the server's answers allowed to go on. `Sdk` is the Client of another version of the
 * SDK; the scenario ends with the first method which that version does not have, noted as absent.
 */
export async function notesOf(
  scenario: Scenario,
  server: Server,
  isOurs: boolean,
  Sdk: typeof Client = Client,
): Promise<Noted[]> {
  const client = new Sdk({
    apiUrl: server.url,
    apiKey: server.apiKey ?? null,
    callerOptions: {
      maxRetries: 0,
      fetch: async (input: RequestInfo | URL, init?: RequestInit) => {
        const response = await fetchAgain(input, init);
        onAnswer();
        return response;
      },
    },
  });
  let onAnswer = (): void => {};
  const notes: Noted[] = [];
  const note = async (name: CallName, args: readonly unknown[], runs?: number) => {
    const method = name.split(" ")[0] as Method;
    if (!hasMethod(client, method)) {
      notes.push({ name, method, answer: {} });
      throw new Absent(method);
    }
    const { answer, value } = await answerOf(client, method, args, runs);
    notes.push({ name, method, answer });
    return value;
  };
  const talk: Talk = {
    call: (name, ...args) => note(name, args),
    follow: async (name, runs, ...args) => {
      const answered = new Promise<void>((done) => {
        onAnswer = done;
      });
      const events = note(name, args, runs);
      // Others answer only when there is an event.
      await Promise.race([answered, events, ...(isOurs ? [] : [sleep(1_000)])]);
      return { events };
    },
    here: (claim) => {
      if (isOurs) claim();
    },
    until: (status, isReached) => {
      const end = isOurs ? Number.POSITIVE_INFINITY : performance.now() + OTHERS_MS;
      return until(async () => {
        const now = await status(client);
        if (now === undefined) throw new Error("The server does not say.");
        if (performance.now() > end) throw new Error(`The server never came there: ${now}.`);
        return isReached(now);
      });
    },
  };
  try {
    await scenario.run(talk);
  } catch (error) {
    // Others may not answer what the script goes on with.
    if (!(error instanceof Absent) && (isOurs || error instanceof Unreachable)) throw error;
  }
  return notes;
}

/** Ends a scenario at a method that the version of the SDK does not have. */
class Absent extends Error {}

function hasMethod(client: Client, method: Method): boolean {
  const [resource, name] = method.split(".") as [(typeof RESOURCES)[number], string];
  return typeof (client[resource] as any)[name] === "function";
}

/** A connection kept open may be closed by the server just as it is used: that is tried again, as browsers do. */
async function fetchAgain(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(input, init);
  } catch (error) {
    if (init?.signal?.aborted) throw error;
    return await fetch(input, init);
  }
}

class Unreachable extends Error {}

async function answerOf(client: Client, method: Method, args: readonly unknown[], runs?: number) {
  const [resource, name] = method.split(".") as [(typeof RESOURCES)[number], string];
  try {
    const returned = (client[resource] as any)[name](...args);
    if (typeof returned[Symbol.asyncIterator] === "function") {
      const events = await collected(returned, runs);
      return { answer: { events: events.map(({ event, data }) => ({ event, data })) }, value: events };
    }
    const value = await returned;
    return { answer: { value }, value };
  } catch (error) {
    const status = (error as { status?: number }).status;
    if (status === undefined) throw new Unreachable(`${method} got no answer.`, { cause: error });
    return { answer: { status }, value: undefined };
  }
}

interface StreamPart {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

/** All there is, or what came until so many runs had ended. */
export async function collected(stream: AsyncIterable<StreamPart>, runs?: number): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  let ended = 0;
  for await (const part of stream) {
    parts.push(part);
    if (part.event === "end") ended += 1;
    if (ended === runs) break;
  }
  return parts;
}

export const say = (content: string) => ({ messages: [{ role: "user", content }] });

export const lastText = (values: unknown): string | undefined =>
  (values as { messages?: { content: string }[] } | undefined)?.messages?.at(-1)?.content;

export const UNKNOWN = "00000000-0000-4000-8000-000000000000";
