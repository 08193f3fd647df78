/**
 * Plain JSON that LangGraph and LangChain take for something else: a command, a packet for a node, a value that
 * replaces a channel, a serialized object. Clients may not send them, at any depth.
 */

import { ServiceError } from "../service-error.ts";
import { isForeignInstance } from "./plain-messages.ts";

/** Throws INVALID_REQUEST; `where` is the part of the request, for its words. */
export function refuseEngineObjects(value: unknown, where: string): void {
  if (typeof value !== "object" || value === null) return;
  const key = Array.isArray(value) ? undefined : engineKey(value as Record<string, unknown>);
  if (key !== undefined)
    throw new ServiceError(
      "INVALID_REQUEST",
      `Serialized objects of LangChain and LangGraph are not taken from clients: ${where} has one, with '${key}'. ${adviceOn(key, value as Record<string, unknown>)}`,
    );
  for (const part of Object.values(value)) refuseEngineObjects(part, where);
}

/** A message in a forbidden role would be refused as plain data too. */
function adviceOn(key: string, value: Record<string, unknown>): string {
  return key === "lc" && isForeignInstance(value)
    ? "Clients send messages of the user or the assistant only."
    : "Send plain data.";
}

/**
 * The key that makes it an object of the engine. `lc` counts only with a number; a language such as `"en"` is plain
 * data.
 */
function engineKey(value: Record<string, unknown>): string | undefined {
  if (typeof value.lg_name === "string") return "lg_name";
  if (Object.hasOwn(value, "__overwrite__")) return "__overwrite__";
  if (value.type === "__overwrite__") return "__overwrite__";
  return typeof value.lc === "number" ? "lc" : undefined;
}
