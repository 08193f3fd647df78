/** Turns failures of a vendor's service into our errors: a code, advice for the reader, and no keys. */
import { SandboxError, type SandboxErrorCode } from "deepwright";
import { holdSecrets } from "deepwright/secrets";

export interface VendorContext {
  /** As people write it: `Daytona`. */
  readonly vendor: string;
  /** Completes "Daytona could not …". */
  readonly action: string;
  /** Where the key comes from, one sentence, for a refusal. */
  readonly keyHint: string;
  /** Whether a 404 is about the sandbox: then it is lost. Default false. */
  readonly aboutSandbox?: boolean;
  /** Never shown: keys and tokens in use. */
  readonly secrets?: readonly (string | undefined)[];
}

/** Errors of any kind are without these keys for as long as their owner is in use. */
export function holdKeys(owner: object, keys: readonly (string | undefined)[]): void {
  holdSecrets(
    owner,
    keys.flatMap((key) => (key ? [["sandbox key", key] as const] : [])),
  );
}

const NETWORK_CODES =
  /^(ECONN(REFUSED|RESET|ABORTED)|ENOTFOUND|EAI_AGAIN|EPIPE|E(HOST|NET)UNREACH|ETIMEDOUT|UND_ERR_\w+|ERR_(NETWORK|BAD_RESPONSE|CANCELED|STREAM_\w+|HTTP2_\w+|SOCKET_\w+))$/;

/** gRPC statuses by number, as HTTP has them. */
const GRPC_STATUS: Readonly<Record<number, number>> = {
  3: 400,
  4: 504,
  5: 404,
  7: 403,
  8: 429,
  9: 412,
  13: 500,
  14: 503,
  16: 401,
};

const GONE =
  /(sandbox|devbox|session|workspace|container)\b.{0,80}\b(not found|does(n.t| not) exist|no longer|has (been )?(terminated|shut ?down|stopped|deleted|destroyed|expired)|is (terminated|shut ?down|deleted|destroyed|gone|not running)|was (terminated|deleted|destroyed))/is;
const QUOTA =
  /quota|(usage|rate|concurren\w*|total|disk|memory|cpu) limit|limit (exceeded|reached)|too many|throttl/i;

/** Ours as they are; a `SandboxError` for anything else. */
export function vendorError(error: unknown, context: VendorContext): SandboxError {
  if (SandboxError.isInstance(error)) return error;
  const status = statusOf(error);
  const text = cleanText(messageOf(error), context.secrets ?? []);
  const code = codeOf(error, status, text, context.aboutSandbox ?? false);
  const said = text === "" ? "" : `: ${text}`;
  const number = status === undefined ? "" : ` (status ${status})`;
  return new SandboxError(
    `${context.vendor} could not ${context.action}${number}${said.replace(/[.\s]+$/, "")}. ${hintOf(code, status, context)}`,
    code,
    cleanCause(error, status, text),
  );
}

export function lostSandbox(id: string, cause?: unknown): SandboxError {
  return new SandboxError(
    `The sandbox '${id}' is gone, with its files. The thread can continue with a new one.`,
    "SANDBOX_LOST",
    cause,
  );
}

/** Runs a call of the SDK; its failure is thrown as ours. An abort is thrown with the signal's reason. */
export async function vendorCall<Result>(
  context: VendorContext,
  call: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  signal?.throwIfAborted();
  try {
    return await call();
  } catch (error) {
    signal?.throwIfAborted();
    throw vendorError(error, context);
  }
}

/** The HTTP status, or the matching one for a gRPC status; undefined: the service gave none. */
export function statusOf(error: unknown): number | undefined {
  const at = error as {
    readonly status?: unknown;
    readonly statusCode?: unknown;
    readonly code?: unknown;
    readonly response?: { readonly status?: unknown };
    readonly $metadata?: { readonly httpStatusCode?: unknown };
  } | null;
  for (const value of [at?.status, at?.statusCode, at?.response?.status, at?.$metadata?.httpStatusCode])
    if (typeof value === "number" && value >= 300 && value < 600) return value;
  return typeof at?.code === "number" ? GRPC_STATUS[at.code] : undefined;
}

/** Whether the service answered that the thing does not exist. */
export function isNotFound(error: unknown): boolean {
  const status = statusOf(error);
  return status === 404 || status === 410;
}

function codeOf(
  error: unknown,
  status: number | undefined,
  text: string,
  aboutSandbox: boolean,
): SandboxErrorCode {
  if (aboutSandbox && (status === 404 || status === 410)) return "SANDBOX_LOST";
  if (status === 401) return "ACCESS_DENIED";
  if (status === 402 || status === 429 || (status !== undefined && status < 500 && QUOTA.test(text)))
    return "QUOTA_EXCEEDED";
  if (status === 403) return "ACCESS_DENIED";
  if (aboutSandbox && GONE.test(text)) return "SANDBOX_LOST";
  if (status !== undefined && status >= 400 && status < 500 && status !== 408 && aboutSandbox)
    return "COMMAND_FAILED";
  return isTimeout(error, status) && aboutSandbox ? "COMMAND_TIMEOUT" : "SANDBOX_UNAVAILABLE";
}

function isTimeout(error: unknown, status: number | undefined): boolean {
  const { name } = (error ?? {}) as { readonly name?: unknown };
  return status === 408 || status === 504 || (status === undefined && /timeout/i.test(String(name)));
}

function hintOf(
  code: SandboxErrorCode,
  status: number | undefined,
  { keyHint, vendor }: VendorContext,
): string {
  if (code === "ACCESS_DENIED") return keyHint;
  if (code === "QUOTA_EXCEEDED")
    return `End sandboxes that are not needed, wait, or raise the limit with ${vendor}.`;
  if (code === "SANDBOX_LOST") return "The sandbox is gone; the thread can go on with a new one.";
  if (status !== undefined && status < 500 && status !== 408)
    return "The request itself was refused: check the options; it does not help to repeat it.";
  return `Check the network and the state of ${vendor}, and try again.`;
}

/** Whether nothing came back because of the network, by the codes of Node, undici and axios. */
export function isNetworkFailure(error: unknown): boolean {
  for (
    let at = error as { code?: unknown; cause?: unknown } | undefined, depth = 0;
    at && depth < 5;
    depth++
  ) {
    if (typeof at.code === "string" && NETWORK_CODES.test(at.code)) return true;
    at = at.cause as typeof at;
  }
  return false;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === "string" ? error : "";
  const { response } = error as { readonly response?: { readonly data?: { readonly message?: unknown } } };
  const message = response?.data?.message;
  if (typeof message === "string" && message !== "") return message;
  if (error.message !== "") return error.message;
  return isNetworkFailure(error) ? String((error as { code?: unknown }).code) : "";
}

const LONGEST = 300;

/** One line, cut short, without anything that looks like a key. */
export function cleanText(text: string, secrets: readonly (string | undefined)[]): string {
  let clean = text;
  for (const secret of secrets) if (secret) clean = clean.replaceAll(secret, "[redacted]");
  clean = clean
    .replace(
      /\b(bearer|basic|api[-_ ]?key|token|secret|password)(["']?\s*[:=]?\s+|["']?[:=]\s*)["']?[^\s"',;]{6,}/gi,
      "$1 [redacted]",
    )
    .replace(/\b[A-Za-z]{2,8}[-_][A-Za-z0-9_-]{20,}\b/g, "[redacted]")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}…` : clean;
}

/** The failure without its request, which has the key in its headers. */
function cleanCause(error: unknown, status: number | undefined, text: string): Error {
  const cause = new Error(text) as Error & { status?: number; code?: unknown };
  const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown };
  if (typeof name === "string") cause.name = name;
  if (status !== undefined) cause.status = status;
  if (typeof code === "string" || typeof code === "number") cause.code = code;
  return cause;
}
