/** The thread a person means: its id, or the beginning of it. */
import type { SharedSaver } from "@deepwright/checkpoint";
import { usageError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";

const PAGE = 1_000;
const MOST_NAMED = 5;

/** The whole id. An exact one counts before the beginnings of others. */
export async function findThread({ storage }: SharedSaver, given: string): Promise<string> {
  if (given === "") throw usageError("The id of the thread is empty.");
  if (await storage.thread(given)) return given;
  const found: string[] = [];
  let after: { updatedAt: number; threadId: string } | undefined;
  while (found.length <= MOST_NAMED) {
    const page = await storage.listThreads({ limit: PAGE, after });
    for (const { threadId } of page) if (threadId.startsWith(given)) found.push(threadId);
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    after = { updatedAt: last.updatedAt, threadId: last.threadId };
  }
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined)
    throw usageError(`There is no thread '${safeLine(given, 80)}'.`, "See deepwright threads list.");
  const names = found.slice(0, MOST_NAMED).map((id) => safeLine(id, 80));
  const more = found.length > MOST_NAMED ? ", …" : "";
  throw usageError(
    `Several threads begin with '${safeLine(given, 80)}': ${names.join(", ")}${more}.`,
    "Give more of the id.",
  );
}
