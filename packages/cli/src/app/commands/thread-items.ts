/** Threads as a person chooses among them. */
import { count } from "../../terminal/amounts.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import type { PickedItem } from "../panels/picker.ts";
import type { Place } from "../session/place.ts";
import { spendingOf } from "../session/spending.ts";

const MOST = 500;

/** Threads of the directory come first, the newest first. */
export async function threadItems(place: Place, directory: string): Promise<readonly PickedItem<string>[]> {
  if (!place.local) return remoteItems(place);
  const { threads } = await place.local.threads.list({ limit: MOST });
  const sorted = threads.toSorted((a, b) => Number(b.cwd === directory) - Number(a.cwd === directory));
  return sorted.map(({ threadId, title, firstPrompt, messageCount, cwd, updatedAt, model }) => ({
    more: () => costOfThread(place, threadId, model),
    value: threadId,
    label: safeLine(title ?? firstPrompt ?? "(no title)", 50),
    description: [
      age(Date.now() - updatedAt),
      count(messageCount, "message"),
      cwd === directory ? "here" : safeLine(cwd ?? "", 40),
      threadId.slice(0, 8),
    ]
      .filter(Boolean)
      .join(" · "),
  }));
}

/** Read from the thread's messages; empty where no price is known. */
async function costOfThread(place: Place, threadId: string, model: string | undefined): Promise<string> {
  // Schemas are loaded with it, which the first frame does not wait for.
  const { screenOfThread } = await import("@deepwright/protocol");
  await place.local?.adopt(threadId);
  const { values } = await place.client.threads.getState(threadId);
  const spending = spendingOf(screenOfThread({ values: values as never }), model ?? place.model);
  const costs = spending.map((one) => place.costOf(one.usage, one.model));
  const known = costs.filter((one) => one !== undefined);
  return known.length === 0 ? "" : `$${known.reduce((sum, one) => sum + one, 0).toFixed(2)}`;
}

async function remoteItems({ client }: Place): Promise<readonly PickedItem<string>[]> {
  const threads = await client.threads.search({ limit: 100 });
  return threads.map(({ thread_id, status, updated_at, title }) => ({
    value: thread_id,
    label: safeLine(title || "(no title)", 50),
    description: `${age(Date.now() - Date.parse(String(updated_at)))} · ${status} · ${thread_id.slice(0, 8)}`,
  }));
}

/** The newest thread of the directory; undefined: there is none. */
export async function lastThread(place: Place, directory: string): Promise<string | undefined> {
  if (!place.local) return (await place.client.threads.search({ limit: 1 }))[0]?.thread_id;
  const { threads } = await place.local.threads.list({ limit: 1, cwd: directory });
  return threads[0]?.threadId;
}

export function age(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}
