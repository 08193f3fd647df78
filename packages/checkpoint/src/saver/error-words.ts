/** Why a task failed, as it may be kept: providers repeat keys in their errors. */
import { ERROR, type PendingWrite } from "@langchain/langgraph-checkpoint";
import { withoutSecrets } from "deepwright/secrets";

const MOST_LEVELS = 8;

/** The writes; texts in errors without the secrets of the environment. */
export function withSafeErrors(writes: readonly PendingWrite[]): readonly PendingWrite[] {
  if (!writes.some(([channel]) => channel === ERROR)) return writes;
  return writes.map(([channel, value]) => [channel, channel === ERROR ? safe(value, MOST_LEVELS) : value]);
}

function safe(value: unknown, levels: number): unknown {
  if (typeof value === "string") return withoutSecrets(value, process.env);
  if (typeof value !== "object" || value === null || levels === 0) return value;
  if (value instanceof Error) return safeError(value);
  if (Array.isArray(value)) return value.map((item) => safe(item, levels - 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, safe(item, levels - 1)]));
}

function safeError(error: Error): Error {
  const message = withoutSecrets(error.message, process.env);
  if (message === error.message) return error;
  const clean = new Error(message);
  clean.name = error.name;
  return clean;
}
