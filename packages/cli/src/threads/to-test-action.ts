/** `deepwright threads to-test`: a thread as a cassette, with a test that replays it. */

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import type { BaseMessage } from "@langchain/core/messages";
import { usageError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { Action } from "./actions.ts";
import { writeLines } from "./transfer.ts";

export const toTest: Action = async (context, [given = "", directory = "."]) => {
  const { options } = context;
  const saver = await context.saver();
  const threadId = await context.find(given);
  const stored = await saver.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: "" } });
  const messages = stored?.checkpoint.channel_values.messages;
  if (!Array.isArray(messages) || messages.length === 0) throw usageError("The thread has no messages.");
  const { cassetteOf, cassetteText, testFileOf } = await import("@deepwright/evals");
  const name = `thread-${threadId.replaceAll(/[^\w-]/g, "_").slice(0, 60)}`;
  const [cassette, test] = [`${name}.cassette.json`, `${name}.test.ts`];
  const recorded = await cassetteOf(messages as BaseMessage[], { name });
  const force = options.force === true;
  await mkdir(directory, { recursive: true });
  await writeLines(join(directory, cassette), linesIn(cassetteText(recorded)), force);
  await writeLines(
    join(directory, test),
    linesIn(testFileOf(cassette, { faults: options.faults === true, requests: recorded.requests.length })),
    force,
  );
  const paths = [cassette, test].map((file) => resolve(directory, file));
  context.print({ threadId, requests: recorded.requests.length, files: paths }, [
    `Wrote ${paths.map((path) => safeLine(path)).join(" and ")}.`,
    "Secrets are redacted as far as they are known: read the files before you share them.",
  ]);
};

function linesIn(text: string): AsyncIterable<string> {
  return Readable.from(text.replace(/\n$/, "").split("\n"));
}
