/** Calls to an A2A agent by JSON-RPC, in the version that its card names. */
import { failed, Refusal, type Server, serverAt, shownDetail } from "../server-requests.ts";
import { recordIn, recordsIn } from "./a2a-answers.ts";

export interface SentMessage {
  readonly messageId: string;
  readonly text: string;
  readonly contextId?: string;
  readonly taskId?: string;
}

export interface A2aCalls {
  send(message: SentMessage, signal: AbortSignal | undefined): Promise<unknown>;
  get(taskId: string, signal: AbortSignal | undefined): Promise<unknown>;
  cancel(taskId: string, signal: AbortSignal | undefined): Promise<void>;
}

/** `url` is checked. The card is read before the first call, and again after that failed. */
export function a2aCalls(url: string, headers: Readonly<Record<string, string>>): A2aCalls {
  const { origin, pathname } = new URL(url);
  const server = serverAt(origin, headers);
  const place = pathname.replace(/\/$/, "");
  const card = place.endsWith(".json") ? place : `${place}/.well-known/agent-card.json`;
  let known: Endpoint | undefined;
  const endpoint = async (signal: AbortSignal | undefined): Promise<Endpoint> => {
    known ??= endpointIn(await server({ method: "GET", path: card, signal }), origin);
    return known;
  };
  const call = async (act: Act, params: (isOld: boolean) => object, signal: AbortSignal | undefined) => {
    const at = await endpoint(signal);
    return called(server, at, { method: METHODS[act][at.isOld ? 1 : 0], params: params(at.isOld) }, signal);
  };
  return {
    send: (message, signal) => call("send", (isOld) => sendParams(message, isOld), signal),
    get: (id, signal) => call("get", () => ({ id }), signal),
    cancel: async (id, signal) => void (await call("cancel", () => ({ id }), signal)),
  };
}

type Act = "send" | "get" | "cancel";

/** By version: 1.0, 0.3. */
const METHODS: Readonly<Record<Act, readonly [string, string]>> = {
  send: ["SendMessage", "message/send"],
  get: ["GetTask", "tasks/get"],
  cancel: ["CancelTask", "tasks/cancel"],
};

interface Endpoint {
  readonly path: string;
  /** Version 0.3. */
  readonly isOld: boolean;
}

/** The headers go to the origin of the developer's address, so the agent must be there too. */
function endpointIn(answer: unknown, origin: string): Endpoint {
  const card = recordIn(answer) ?? {};
  const older = [
    { url: card.url, protocolBinding: card.preferredTransport ?? "JSONRPC", protocolVersion: "0.3" },
    ...recordsIn(card.additionalInterfaces).map(({ url, transport }) => {
      return { url, protocolBinding: transport, protocolVersion: "0.3" };
    }),
  ];
  const spoken = [...recordsIn(card.supportedInterfaces), ...older].filter(
    ({ url, protocolBinding, protocolVersion }) =>
      typeof url === "string" &&
      protocolBinding === "JSONRPC" &&
      /^(?:1|0\.3)\b/.test(String(protocolVersion)),
  );
  const [first] = spoken;
  if (first === undefined) throw failed("has a card without an address for JSON-RPC of A2A 1.0 or 0.3");
  const found = spoken.find(({ url }) => URL.canParse(String(url)) && new URL(String(url)).origin === origin);
  if (found === undefined)
    throw failed(`has a card that names another origin, ${shownDetail(String(first.url))}; give its address`);
  const { pathname, search } = new URL(String(found.url));
  return { path: `${pathname}${search}`, isOld: String(found.protocolVersion).startsWith("0.") };
}

/** The request does not wait for the work: the answer is the task at its start. */
function sendParams({ messageId, text, contextId, taskId }: SentMessage, isOld: boolean): object {
  const place = { ...(contextId !== undefined && { contextId }), ...(taskId !== undefined && { taskId }) };
  return isOld
    ? {
        message: { kind: "message", messageId, role: "user", parts: [{ kind: "text", text }], ...place },
        configuration: { blocking: false },
      }
    : {
        message: { messageId, role: "ROLE_USER", parts: [{ text }], ...place },
        configuration: { returnImmediately: true },
      };
}

const NO_SUCH_TASK = -32001;

async function called(
  server: Server,
  { path, isOld }: Endpoint,
  request: { readonly method: string; readonly params: object },
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const body = { jsonrpc: "2.0", id: 1, ...request };
  const headers: Record<string, string> = isOld ? {} : { "a2a-version": "1.0" };
  const { result, error } = recordIn(await server({ method: "POST", path, body, headers, signal })) ?? {};
  if (error == null) return result;
  const { code, message } = recordIn(error) ?? {};
  const cause = code === NO_SUCH_TASK ? new Refusal(404) : undefined;
  throw failed(`refused: ${shownDetail(String(message ?? code))}`, cause);
}
