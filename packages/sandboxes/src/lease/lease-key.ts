/** Makes the key by which a sandbox is found, from its owner. No list of sandboxes is kept anywhere. */
import { createHash, randomBytes } from "node:crypto";
import { type BackendRuntime, DeepwrightError } from "deepwright";
import type { Settings } from "./options.ts";

type Owner = Pick<Settings, "scope" | "name">;

/**
 * Throws INVALID_INPUT for a run without thread or assistant, so that no run gets another's sandbox. On a server that
 * separates its users each user has sandboxes of their own, even under a thread id that another user had before.
 */
export function keyOfRun(owner: Owner, { config, serverInfo }: BackendRuntime): string {
  const { assistantId, tenant } = serverInfo ?? {};
  if (owner.scope === "assistant") return keyOfAssistant(owner, assistantId, tenant);
  const { configurable } = (config ?? {}) as { readonly configurable?: Record<string, unknown> };
  const thread = configurable?.thread_id;
  if (thread !== undefined && thread !== null && thread !== "") return keyFor(owner, String(thread), tenant);
  throw new DeepwrightError(
    "INVALID_INPUT",
    "The sandbox of this agent belongs to a thread, and this run has none.",
    {
      hint: "Run the agent with {configurable: {thread_id}}, or hand it the sandbox of a lease of your own.",
    },
  );
}

/** `given` is the id of a thread or assistant; absent: the named assistant, or a private key. */
export function keyOfLease(owner: Owner, given: string | undefined): string {
  if (owner.scope === "assistant") return keyOfAssistant(owner, given);
  return given === undefined ? `own-${randomBytes(16).toString("hex")}` : keyFor(owner, given);
}

function keyOfAssistant(owner: Owner, assistant: string | undefined, tenant?: string): string {
  if (assistant !== undefined || owner.name !== undefined) return keyFor(owner, assistant ?? "", tenant);
  throw new DeepwrightError(
    "INVALID_INPUT",
    "The sandbox belongs to an assistant, and it is not known which.",
    {
      hint: "Give createSandbox a 'name'.",
    },
  );
}

/** Turns a name of any length and any characters into a label that every provider takes. */
function keyFor({ scope, name = "" }: Owner, id: string, tenant?: string): string {
  const parts = [scope, name, id, ...(tenant === undefined ? [] : [tenant])];
  const hash = createHash("sha256").update(JSON.stringify(parts));
  return `${scope}-${hash.digest("hex").slice(0, 40)}`;
}
