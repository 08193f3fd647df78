/** Checks that an option is a backend, with hints about common mistakes. */
import { ConfigurationError } from "../errors.ts";

/** An instance, a class, or a function that makes one; null means absent. Throws a ConfigurationError. */
export function checkBackend(backend: unknown): void {
  if (backend == null || typeof backend === "function") return;
  const { ls, lsInfo } = Object(backend) as { ls?: unknown; lsInfo?: unknown };
  if (typeof (ls ?? lsInfo) === "function") return;
  throw new ConfigurationError(
    "INVALID_OPTION",
    `The option 'backend' must be a backend or a function that makes one, not ${shown(backend)}.`,
    { hint: hintFor(Object(backend)) },
  );
}

/** Recognised by their shapes, because this package does not know their classes. */
interface Mistaken {
  readonly open?: unknown;
  readonly network?: unknown;
  readonly release?: unknown;
  readonly sandbox?: unknown;
  readonly then?: unknown;
}

function hintFor(given: Mistaken): string {
  if (isProvider(given))
    return "It is a provider of sandboxes: lease from it, with createSandbox({ provider: … }) of '@deepwright/sandboxes'.";
  if (typeof given.release === "function" && given.sandbox !== undefined)
    return "It is a lease: give its `sandbox`, or the source it came from.";
  if (typeof given.then === "function") return "It is a promise: await it.";
  return "For example new StateBackend().";
}

function isProvider({ open, network }: Mistaken): boolean {
  return typeof open === "function" && typeof network === "string";
}

function shown(value: unknown): string {
  if (typeof value === "string") return `'${value}'`;
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return "a list";
  const { name } = value as { readonly name?: unknown };
  return isProvider(value as Mistaken) && typeof name === "string" ? `the provider '${name}'` : "an object";
}
