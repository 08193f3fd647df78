/** Failures of the container engine as our errors. */
import { SandboxError, type SandboxErrorCode } from "deepwright";

const START_IT =
  "Start Docker or Podman (`podman system service` for its socket), or name the socket with `socketPath` or DOCKER_HOST.";

const MAY_NOT =
  "Add this user to the group of the socket, or use an engine of its own, such as rootless Podman.";

/** Codes of a connection that was never made. */
const NOT_THERE = new Set([
  "ENOENT",
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTSOCK",
]);

/** The engine did not answer within its time. */
export class EngineTimeout extends Error {}

/** HTTP status of the engine's answer; undefined: there was none. */
export function statusOf(error: unknown): number | undefined {
  const { statusCode } = error as { readonly statusCode?: unknown };
  return typeof statusCode === "number" ? statusCode : undefined;
}

/** Podman reports in its text that the container went away during the call. */
export function isGone(error: unknown): boolean {
  const status = statusOf(error);
  return status === 404 || (status === 500 && /no such container/i.test(messageOf(error)));
}

/** `action` completes "The container engine could not …". Ours are returned as they are. */
export function engineError(error: unknown, action: string, address: string): SandboxError {
  if (SandboxError.isInstance(error)) return error;
  if (error instanceof EngineTimeout)
    return new SandboxError(
      `The container engine at ${address} did not answer in time to ${action}. Is it overloaded? \`engineTimeout\` gives it longer.`,
      "SANDBOX_UNAVAILABLE",
      error,
    );
  const { code } = error as { readonly code?: unknown };
  if (typeof code === "string" && NOT_THERE.has(code))
    return new SandboxError(
      `There is no container engine at ${address} (${code}). ${START_IT}`,
      "SANDBOX_UNAVAILABLE",
      error,
    );
  if (code === "EACCES" || code === "EPERM")
    return new SandboxError(
      `This user may not use the container engine at ${address}. ${MAY_NOT}`,
      "ACCESS_DENIED",
      error,
    );
  const status = statusOf(error);
  const number = status === undefined ? "" : ` (status ${status})`;
  return new SandboxError(
    `The container engine could not ${action}${number}: ${messageOf(error)}.`,
    codeOf(status),
    error,
  );
}

function codeOf(status: number | undefined): SandboxErrorCode {
  if (status === 401 || status === 403) return "ACCESS_DENIED";
  return status === 429 || status === 507 ? "QUOTA_EXCEEDED" : "SANDBOX_UNAVAILABLE";
}

const LONGEST = 300;

/** Message of the engine in one line, without the words the client put around it. */
export function messageOf(error: unknown): string {
  const { json, message } = error as { readonly json?: unknown; readonly message?: unknown };
  const said = (json as { readonly message?: unknown } | null | undefined)?.message;
  const text = String(typeof said === "string" && said !== "" ? said : message)
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim()
    .replace(/\.$/, "");
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

export function lostContainer(cause?: unknown): SandboxError {
  return new SandboxError(
    "The container has ended, and its files are lost. The thread can continue with a new one.",
    "SANDBOX_LOST",
    cause,
  );
}
