/** A thread at work: its stream, messages while a run goes on, and what waits for an answer. */

import {
  type AllowRule,
  type AnswerInterrupt,
  type CreateRun,
  HEADER,
  type RunConfig,
  type WaitingInterrupt,
} from "@deepwright/protocol";
import { choicesOf } from "../agent-facts/run-choices.ts";
import { rulesIn } from "../approval-modes/approval-mode.ts";
import { APPROVAL_RULES_KEY } from "../approval-modes/approval-modes.ts";
import { userOf } from "../http/authenticate.ts";
import { invalid, Problem } from "../http/problems.ts";
import { eventResponse } from "../http/sse-response.ts";
import type { RunRecord, RunRequest } from "../records/records.ts";
import { readState } from "../runs/state/read-state.ts";
import { assistantOf } from "./assistant-routes.ts";
import type { Call, Handlers } from "./call.ts";
import { checkMessages } from "./checked-request.ts";
import { lastEvent, type NewRunCall, shownRun, startRun } from "./run-parts.ts";
import { graphOfThread, readingConfig, readingThread, shownState, threadOf } from "./thread-parts.ts";
import { streamPosition, threadEvents } from "./thread-stream.ts";

type WorkRoutes = Pick<
  Handlers<"threads">,
  | "threads.stream"
  | "threads.postMessage"
  | "threads.stopSubagent"
  | "threads.steerSubagent"
  | "threads.interrupts"
  | "threads.answerInterrupt"
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

  "threads.stopSubagent": async ({ owner, parameters, body, services }) => {
    services.runRate.take(owner);
    return services.runs.orderSubagent(owner, parameters.thread_id, { id: body.id, subagent: body.subagent });
  },

  "threads.steerSubagent": async ({ owner, parameters, body, services }) => {
    checkMessages([{ role: "user", content: body.content }]);
    services.runRate.take(owner);
    return services.runs.orderSubagent(owner, parameters.thread_id, body);
  },

  "threads.interrupts": async (call) => waitingIn(call, call.parameters.thread_id),

  "threads.answerInterrupt": answerInterrupt,
};

export async function waitingIn(
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
  const { parameters, body } = call;
  const { thread_id: threadId, interrupt_id: id } = parameters;
  if (body.value === undefined) throw invalid("value: is the answer, and must be there.");
  const run = await answerInterrupts(call, threadId, {
    answers: { [id]: body.value },
    assistantId: body.assistant_id,
    allow: body.allow,
    keyStandsFor: ["answer", threadId, id, body],
    ...(body.multitask_strategy && { multitask_strategy: body.multitask_strategy }),
  });
  return shownRun(run);
}

type AnswerRequest = Pick<
  RunRequest,
  "config" | "metadata" | "stream_mode" | "stream_subgraphs" | "multitask_strategy" | "push"
>;

export interface Answers extends AnswerRequest {
  /** By the ids of their interrupts. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Default: that of the last run. */
  readonly assistantId?: string | undefined;
  /** Commands beside the answer, which are checked like those of any run. */
  readonly command?: Pick<NonNullable<CreateRun["command"]>, "update" | "goto">;
  /** Calls like these are not asked about again. */
  readonly allow?: AnswerInterrupt["allow"];
  readonly keyStandsFor: unknown;
}

/** Begins a run that has the answers. Settings that are not given are those of the last run. */
export async function answerInterrupts(
  call: NewRunCall & Pick<Call, "held">,
  threadId: string,
  { answers, assistantId, command, allow = [], keyStandsFor, ...request }: Answers,
): Promise<RunRecord> {
  const { owner, services } = call;
  const check = async () => {
    const waiting = new Set((await waitingIn(call, threadId)).map(({ id }) => id));
    if (!Object.keys(answers).every((id) => waiting.has(id)))
      throw new Problem("NOTHING_TO_RESUME", "No interrupt with this id waits for an answer.");
  };
  const [last] = await services.runs.list(owner, threadId, { limit: 1, offset: 0 });
  const { metadata } = await threadOf(services, owner, threadId);
  const assistant = assistantId ?? last?.assistant_id ?? metadata.assistant_id;
  if (typeof assistant !== "string") throw invalid("assistant_id: the thread has had no run.");
  const { context, stream_mode, stream_subgraphs, webhook } = last?.request ?? {};
  const allowed = await allowances(call, assistant, allow);
  const config = withRules(request.config ?? last?.request.config, allowed.inThread);
  const run = await startRun(
    call,
    {
      assistant_id: assistant,
      command: { resume: answers, ...command },
      ...{ context, stream_mode, stream_subgraphs, webhook, ...request, config },
    },
    threadId,
    { check, keyStandsFor },
  );
  await allowed.keep();
  return run;
}

/** The calls that an answer allows. Rules of a project hold for every caller, so there must be one caller alone. */
async function allowances(
  { services, owner }: Pick<NewRunCall, "services" | "owner">,
  assistant: string,
  allow: NonNullable<AnswerInterrupt["allow"]>,
) {
  const ofProject = allow.filter(({ scope }) => scope === "project").map(ruleOf);
  const inThread = allow.filter(({ scope }) => scope === "thread").map(ruleOf);
  if (ofProject.length === 0) return { inThread, keep: async () => {} };
  const { graph_id: graphId } = await assistantOf(services, owner, assistant);
  const { modes } = choicesOf(await services.agents.load(graphId));
  if (services.tenants || !modes?.savesRules)
    throw invalid("allow: rules of the project are not kept here; use the scope thread.");
  return {
    // The run that goes on may be at work before the rule is kept.
    inThread: [...inThread, ...ofProject],
    keep: async () => {
      for (const rule of ofProject) await modes.remember(rule);
    },
  };
}

const ruleOf = ({ tool, prefix }: AllowRule): AllowRule => ({ tool, ...(prefix && { prefix }) });

function withRules(config: RunConfig | null | undefined, rules: readonly AllowRule[]): RunConfig | undefined {
  if (rules.length === 0) return config ?? undefined;
  const { [APPROVAL_RULES_KEY]: given } = config?.configurable ?? {};
  const before = rulesIn(given) ?? [];
  return {
    ...config,
    configurable: { ...config?.configurable, [APPROVAL_RULES_KEY]: [...before, ...rules] },
  };
}
