/** Settings that a thread stores for its next run. */
import type { SharedSaver } from "@deepwright/checkpoint";
import { questionsOf, toolsOf } from "../approval/question.ts";
import { keptSandbox, SANDBOX, SANDBOX_OF_SERVER, type ThreadSandbox } from "../commands/thread-sandbox.ts";
import { ASKED, type Asked, NOT_ASKED } from "./asked-tools.ts";
import type { RunThread } from "./run-thread.ts";
import { INTERRUPT } from "./stream-part.ts";

export interface Kept {
  readonly asked: Asked;
  /** Where its last run worked; undefined when it is not known. */
  readonly sandbox: ThreadSandbox | undefined;
}

export async function keptWith({ saver, id, before }: RunThread): Promise<Kept> {
  if (before === undefined) return { asked: NOT_ASKED, sandbox: undefined };
  return keptIn(await saver.getTuple({ configurable: { thread_id: id } }));
}

function keptIn(saved: Awaited<ReturnType<SharedSaver["getTuple"]>>): Kept {
  const values = saved?.checkpoint.channel_values ?? {};
  const { [ASKED]: asked, [SANDBOX]: sandbox = values[SANDBOX_OF_SERVER] } = values;
  const interrupts = (saved?.pendingWrites ?? [])
    .filter(([, channel]) => channel === INTERRUPT)
    .flatMap(([, , value]) => value as unknown);
  return {
    asked: {
      kept: Array.isArray(asked) ? asked.map(String) : undefined,
      waiting: toolsOf(questionsOf(interrupts)),
    },
    sandbox: keptSandbox(sandbox),
  };
}
