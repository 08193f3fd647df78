/** Why a task failed, as it may be kept: providers repeat keys in their errors. */
import { ERROR, type PendingWrite } from "@langchain/langgraph-checkpoint";
import { withoutSecrets } from "deepwright/secrets";

/** The writes; of errors their name and message without secrets, not their causes and headers. */
export function withSafeErrors(writes: readonly PendingWrite[]): readonly PendingWrite[] {
  if (!writes.some(([channel]) => channel === ERROR)) return writes;
  return writes.map(([channel, value]) => [channel, channel === ERROR ? safeError(value) : value]);
}

function safeError(value: unknown): unknown {
  if (typeof value === "string") return withoutSecrets(value, process.env);
  if (typeof value !== "object" || value === null) return value;
  const { name, message } = value as { name?: unknown; message?: unknown };
  if (typeof message !== "string") return value;
  return {
    name: typeof name === "string" ? name : "Error",
    message: withoutSecrets(message, process.env),
  };
}
