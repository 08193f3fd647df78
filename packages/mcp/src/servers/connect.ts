/** One connection to one server, made from its definition. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { visibleLine } from "deepwright/console-line";
import { createGuardedFetch } from "deepwright/net";
import {
  addressSecrets,
  headerSecrets,
  holdSecrets,
  redactError,
  type Secret,
  secretsIn,
  withoutSecrets,
} from "deepwright/secrets";
import { loadSdk, loadSse } from "../load-mcp.ts";
import type { HttpDefinition, StdioDefinition } from "./definition.ts";
import { programOf } from "./program.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { filled, variablesIn } from "./variables.ts";

export interface ConnectRequest {
  /** Holds the secrets of the definition, and releases them when it is closed. */
  readonly owner: object;
  /** Trusted, variables not filled in. */
  readonly definition: StdioDefinition | HttpDefinition;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds to be ready in. */
  readonly startTimeout: number;
  /** Throws where a program must not be started. */
  readonly beforeStart: () => Promise<void>;
  readonly signal: AbortSignal;
  readonly onToolsChanged: () => void;
  /** Something went wrong beside any answer: the connection may be broken. */
  readonly onTrouble: () => void;
  /** Once, however it ended; with the last words of a program. */
  readonly onClose: (complaint: string) => void;
}

/** Most bytes of an answer to a call. */
const MOST_ANSWER = 16 * 1024 * 1024;

/** Output schemas are not enforced: a pattern in one would be a program that runs here. */
const TAKES_ALL = {
  getValidator: () => (data: unknown) => ({
    valid: true as const,
    data: data as never,
    errorMessage: undefined,
  }),
};

export interface Connected {
  readonly client: Client;
  close(): Promise<void>;
}

/** Rejects with an error about the server; a started program has ended then. */
export async function connect(request: ConnectRequest): Promise<Connected> {
  const sdk = await loadSdk();
  const { definition, directory, environment, startTimeout, signal } = request;
  signal.throwIfAborted();
  const whole = filled(definition, environment);
  const named = variablesIn(definition).filter((name) => Object.hasOwn(environment, name));
  const read = Object.fromEntries(named.map((name) => [name, environment[name]]));
  holdSecrets(request.owner, [...definitionSecrets(whole), ...secretsIn(read)]);
  const client = new sdk.Client(
    { name: "deepwright", version: "0.1.0" },
    { capabilities: {}, jsonSchemaValidator: TAKES_ALL },
  );
  let stdio: StdioTransport | undefined;
  let transport: Transport;
  if ("command" in whole) {
    const program = await programOf(whole, directory, environment);
    await request.beforeStart();
    stdio = new StdioTransport(program, sdk);
    transport = stdio;
  } else transport = await httpTransport(sdk, whole);
  const close = async (): Promise<void> => {
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
  };
  let isOver = false;
  client.onclose = () => {
    if (!isOver) request.onClose(visibleLine(withoutSecrets(stdio?.complaint() ?? ""), MOST_WORDS));
    isOver = true;
  };
  client.onerror = () => request.onTrouble();
  client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, () => request.onToolsChanged());
  try {
    await client.connect(transport, { timeout: startTimeout, signal });
    return { client, close };
  } catch (error) {
    isOver = true;
    await close();
    signal.throwIfAborted();
    throw failure(error, stdio?.complaint());
  }
}

async function httpTransport(
  sdk: Awaited<ReturnType<typeof loadSdk>>,
  definition: HttpDefinition,
): Promise<Transport> {
  const { type, url, headers = {}, allowPrivate = false } = definition;
  if (!URL.canParse(url)) throw new Error(`'${visibleLine(url, 200)}' is not a url.`);
  const fetch = createGuardedFetch({ allowPrivate, maxBytes: MOST_ANSWER });
  const options = { fetch, requestInit: { headers } };
  if (type === "sse") return new (await loadSse())(new URL(url), options);
  return new sdk.StreamableHTTPClientTransport(new URL(url), options) as Transport;
}

/** Values that the server is sent or started with, and repeats in its errors. */
function definitionSecrets(definition: StdioDefinition | HttpDefinition): readonly Secret[] {
  if ("command" in definition) return secretsIn(definition.env ?? {});
  const { searchParams } = URL.canParse(definition.url) ? new URL(definition.url) : new URL("http://x");
  return [
    ...headerSecrets(definition.headers ?? {}),
    ...addressSecrets("password", definition.url),
    ...secretsIn(Object.fromEntries(searchParams)),
  ];
}

const MOST_WORDS = 1_000;

/** With the last words of the program, where it is one. */
function failure(error: unknown, complaint: string | undefined): Error {
  const { message = String(error), cause } = (error ?? {}) as Error;
  const inner = cause instanceof Error ? ` (${cause.message})` : "";
  const said = complaint ? ` It said: ${complaint}` : "";
  const words = withoutSecrets(`${message}${inner}${said}`);
  return new Error(visibleLine(words, MOST_WORDS), { cause: redactError(error) });
}
