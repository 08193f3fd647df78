/** A thread at work: its stream, messages while a run goes on, and what waits for an answer. */

import { HEADER, type WaitingInterrupt } from "@deepwright/protocol";
import { userOf } from "../http/authenticate.ts";
import { invalid, Problem } from "../http/problems.ts";
import { eventResponse } from "../http/sse-response.ts";
import { readState } from "../runs/state/read-state.ts";
import type { Call, Handlers } from "./call.ts";
import { checkMessages } from "./checked-request.ts";
import { lastEvent, shownRun, startRun } from "./run-parts.ts";
import { graphOfThread, readingConfig, readingThread, shownState, threadOf } from "./thread-parts.ts";
import { streamPosition, threadEvents } from "./thread-stream.ts";

type WorkRoutes = Pick<
  Handlers<"threads">,
  "threads.stream" | "threads.postMessage" | "threads.interrupts" | "threads.answerInterrupt"
>;

export const threadWorkRoutes: WorkRoutes = {
  "threads.stream": async ({ request, owner, parameters, query, services, cut }) => {
    const { thread_id: threadId } = await threadOf(services, owner, parameters.thread_id);
    const from = await streamPosition(services, owner, threadId, lastEvent(request));
    const reader = { owner, threadId, from, modes: query.stream_mode };
    const release = services.streams.open(owner);
    return eventResponse((signal) => threadEvents(services, reader, signal), {
      ...services,
      cut,
      headers: { [HEADER.location]: `/threads/${encodeURIComponent(threadId)}/stream` },
      onEnd: release,
    });
  },

  "threads.postMessage": async ({ caller, owner, parameters, body, services }) => {
    const { kind, content, id, assistant_id: assistantId } = body;
    checkMessages([{ role: "user", content }]);
    services.runRate.take(owner);
    const mail = { id, content, assistantId, user: userOf(caller) };
    return kind === "steer"
      ? services.runs.steer(owner, parameters.thread_id, mail)
      : services.runs.followUp(owner, parameters.thread_id, mail);
  },

  "threads.interrupts": async (call) => waitingIn(call, call.parameters.thread_id),

  "threads.answerInterrupt": answerInterrupt,
};

async function waitingIn(
  call: Pick<Call, "services" | "owner" | "held">,
  threadId: string,
): Promise<WaitingInterrupt[]> {
  const { services, owner } = call;
  const tasks = await readingThread(services, owner, threadId, async (thread) => {
    const graph = await graphOfThread(services, thread);
    return graph ? shownState(await readState(graph, readingConfig(call, { threadId })), graph).tasks : [];
  });
  return tasks.flatMap(({ id: task, interrupts }) =>
    interrupts.flatMap(({ id, ...interrupt }) => (id === undefined ? [] : [{ ...interrupt, id, task }])),
  );
}

/** Others that wait go on waiting: the answer names the one it is for. */
async function answerInterrupt(call: Call<"threads.answerInterrupt">) {
  const { owner, parameters, body, services } = call;
  const { thread_id: threadId, interrupt_id: id } = parameters;
  if (body.value === undefined) throw invalid("value: is the answer, and must be there.");
  const check = async () => {
    const waiting = await waitingIn(call, threadId);
    if (!waiting.some((interrupt) => interrupt.id === id))
      throw new Problem("NOTHING_TO_RESUME", "No interrupt with this id waits for an answer.");
  };
  const [last] = await services.runs.list(owner, threadId, { limit: 1, offset: 0 });
  const { metadata } = await threadOf(services, owner, threadId);
  const assistant = body.assistant_id ?? last?.assistant_id ?? metadata.assistant_id;
  if (typeof assistant !== "string") throw invalid("assistant_id: the thread has had no run.");
  const { config, context, stream_mode, stream_subgraphs } = last?.request ?? {};
  const run = await startRun(
    call,
    {
      assistant_id: assistant,
      command: { resume: { [id]: body.value } },
      ...(body.multitask_strategy && { multitask_strategy: body.multitask_strategy }),
      config,
      context,
      stream_mode,
      stream_subgraphs,
    },
    threadId,
    { check, keyStandsFor: ["answer", threadId, id, body] },
  );
  return shownRun(run);
}
