import type { SandboxBackendProtocol } from "./backend.ts";

/**
 * Whether a backend of either protocol can run commands. An empty `id` means that it cannot: a wrapper always has
 * `execute`, and an `id` only when the inner backend has one.
 */
export function isSandboxProtocol(backend: unknown): backend is SandboxBackendProtocol {
  if (typeof backend !== "object" || backend === null) return false;
  const { execute, id } = backend as Partial<SandboxBackendProtocol>;
  return typeof execute === "function" && typeof id === "string" && id !== "";
}

/** Whether it can be used unchanged: it runs commands and its file methods are not those of the older protocol. */
export function isSandboxBackend(backend: unknown): backend is SandboxBackendProtocol {
  return isSandboxProtocol(backend) && typeof backend.ls === "function";
}

/** A sandbox may say, for the model, how commands see the files; the words name no tool but `execute`. */
export interface WithCommandNote {
  readonly commandNote?: string;
}

/** `""` where there is nothing to say. */
export function commandNoteOf(backend: unknown): string {
  const note: unknown = (backend as WithCommandNote | null | undefined)?.commandNote;
  return typeof note === "string" ? note : "";
}

/** Whether relative paths must reach the backend as they are: only its own methods know where they lie. */
export function keepsRelativePaths(backend: object): boolean {
  return (backend as { readonly keepsRelativePaths?: unknown }).keepsRelativePaths === true;
}
