/** Connections that die without a word: nothing arrives on them any more, and nobody closes them. */
import type { Socket } from "node:net";
import type { ClientBase } from "pg";

/** Seconds a statement may stay unanswered, unless the options say otherwise. */
export const ANSWER_SECONDS = 25;

/** Breaks the connection off once nothing has passed over it for so long, from now on; 0 lifts the limit. */
export function limitSilence(client: ClientBase, milliseconds: number): void {
  const stream = streamOf(client);
  if (stream === undefined) return;
  if (!stream.listeners("timeout").includes(cut)) stream.on("timeout", cut);
  stream.setTimeout(milliseconds);
}

/**
 * For a connection that waits for notifications, which may never come: asks for a sign of life again and again, so that
 * silence means that the connection is dead. Returns how to stop it.
 */
export function askForLife(client: ClientBase, answerMs: number): () => void {
  limitSilence(client, answerMs * 0.8);
  const asking = setInterval(() => void client.query("SELECT 1").catch(() => {}), answerMs / 5).unref();
  return () => {
    clearInterval(asking);
    limitSilence(client, 0);
  };
}

/** Ends a connection, also one whose other end is silent. */
export async function endConnection(client: ClientBase & { end(): Promise<void> }): Promise<void> {
  const stream = streamOf(client);
  const late = setTimeout(() => stream?.destroy(), LAST_WORDS_MS).unref();
  await client.end().catch(() => {});
  clearTimeout(late);
}

const LAST_WORDS_MS = 1_000;

function cut(this: Socket): void {
  this.destroy(new Error(`Connection terminated: there was no answer for ${(this.timeout ?? 0) / 1_000} s`));
}

/** Absent in the native client. */
function streamOf(client: ClientBase): Socket | undefined {
  return (client as unknown as { readonly connection?: { readonly stream?: Socket } }).connection?.stream;
}
