/** Where a page of threads ended, as a text callers hand back. */
import { DeepwrightError } from "deepwright/errors";
import type { ThreadFacts, ThreadQuery } from "../storage/storage.ts";

export function cursorOf({ updatedAt, threadId }: ThreadFacts): string {
  return Buffer.from(JSON.stringify([updatedAt, threadId])).toString("base64url");
}

export function placeAfter(cursor: string): NonNullable<ThreadQuery["after"]> {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(String(cursor), "base64url").toString());
  } catch {
    parts = undefined;
  }
  const [updatedAt, threadId] = Array.isArray(parts) ? parts : [];
  if (Number.isSafeInteger(updatedAt) && typeof threadId === "string" && !threadId.includes("\0"))
    return { updatedAt, threadId };
  throw new DeepwrightError("INVALID_INPUT", "'after' is not a place in the list of threads.", {
    hint: "Pass `next` of the previous page.",
  });
}
