/** The thread-centric protocol of LangChain's newer clients, beside the routes of runs and over the same runs. */
import {
  type CreateRun,
  forkCommand,
  injectCommand,
  type ProblemCode,
  respondCommand,
  type StreamMode,
  startCommand,
  stateCommand,
  type ThreadCommandAnswer,
} from "@deepwright/protocol";
import { userOf } from "../../http/authenticate.ts";
import { invalid, Problem, problemOf } from "../../http/problems.ts";
import { eventResponse } from "../../http/sse-response.ts";
import { readState } from "../../runs/state/read-state.ts";
import type { Call, Handlers } from "../call.ts";
import { checkMessages } from "../checked-request.ts";
import { startRun } from "../run-parts.ts";
import { graphOfThread, readingConfig, readingThread, shownState, threadOf } from "../thread-parts.ts";
import { answerInterrupts } from "../thread-work-routes.ts";
import { protocolEvents } from "./protocol-events.ts";

type CommandCall = Call<"threads.command">;
type Result = Readonly<Record<string, unknown>>;

/** All that the channels are made of. */
const MODES: StreamMode[] = [
  "values",
  "updates",
  "messages-tuple",
  "tools",
  "custom",
  "checkpoints",
  "tasks",
];
const STREAM = { stream_mode: MODES, stream_subgraphs: true } as const;

export const threadCommandRoutes: Pick<Handlers<"threads">, "threads.command" | "threads.streamEvents"> = {
  "threads.command": async (call) => {
    const { id, method } = call.body;
    const command = COMMANDS.get(method);
    if (command === undefined)
      return {
        type: "error",
        id,
        error: "unknown_command",
        message: `There is no command '${method}' here.`,
      };
    try {
      return { type: "success", id, result: await command(call) };
    } catch (error) {
      return errorAnswer(id, error);
    }
  },

  "threads.streamEvents": async ({ owner, parameters, body, services, cut }) => {
    const { thread_id: threadId } = await threadOf(services, owner, parameters.thread_id);
    const release = services.streams.open(owner);
    return eventResponse((signal) => protocolEvents(services, { owner, threadId, wanted: body }, signal), {
      ...services,
      cut,
      headers: {},
      onEnd: release,
    });
  },
};

const COMMANDS: ReadonlyMap<string, (call: CommandCall) => Promise<Result>> = new Map([
  ["run.start", start],
  ["input.respond", respond],
  ["input.inject", inject],
  ["state.get", state],
  ["state.fork", fork],
]);

/** Errors that belong to the command. Others have a status, by which clients know whether to send it again. */
const ERRORS: Partial<Record<ProblemCode, NonNullable<ThreadCommandAnswer["error"]>>> = {
  INVALID_REQUEST: "invalid_argument",
  NOTHING_TO_RESUME: "no_such_interrupt",
  NOTHING_TO_STEER: "no_such_run",
  THREAD_BUSY: "invalid_argument",
  FORBIDDEN: "permission_denied",
  NOT_SUPPORTED: "not_supported",
};

function errorAnswer(id: number, error: unknown): ThreadCommandAnswer {
  const { code, message } = problemOf(error);
  const known = ERRORS[code];
  if (known === undefined) throw error;
  return { type: "error", id, error: known, message };
}

/** Always an input: only `input.respond`, which names its interrupt, answers one. */
async function start(call: CommandCall): Promise<Result> {
  const { assistant_id, input, config, metadata, multitaskStrategy } = startCommand.parse(call.body.params);
  const request: CreateRun = {
    assistant_id,
    input: input ?? null,
    ...placed(config),
    metadata,
    ...(multitaskStrategy && { multitask_strategy: multitaskStrategy }),
    if_not_exists: "create",
    ...STREAM,
  };
  const run = await startRun(call, request, call.parameters.thread_id);
  return { run_id: run.run_id, thread_id: run.thread_id };
}

/** Clients name the checkpoint to go on from in the config. */
function placed(config: CreateRun["config"]): Pick<CreateRun, "config" | "checkpoint_id"> {
  const { checkpoint_id: id, ...configurable } = config?.configurable ?? {};
  if (id === undefined || id === null) return { config };
  if (typeof id !== "string") throw invalid("config.configurable.checkpoint_id: must be an id.");
  return { config: { ...config, configurable }, checkpoint_id: id };
}

async function respond(call: CommandCall): Promise<Result> {
  const { responses, update, goto, config, metadata } = respondCommand.parse(call.body.params);
  if (responses.some(({ response }) => response === undefined))
    throw invalid("response: is the answer, and must be there.");
  const run = await answerInterrupts(call, call.parameters.thread_id, {
    answers: Object.fromEntries(responses.map(({ interrupt_id: id, response }) => [id, response])),
    command: { ...(update !== undefined && { update }), ...(goto !== undefined && { goto }) } as object,
    keyStandsFor: ["respond", call.parameters.thread_id, call.body],
    ...STREAM,
    ...(config && { config }),
    ...(metadata && { metadata }),
  });
  return { run_id: run.run_id };
}

/** Read before the next model call, of the agent or of one subagent. */
async function inject(call: CommandCall): Promise<Result> {
  const { namespace, message } = injectCommand.parse(call.body.params);
  const { owner, caller, services } = call;
  const threadId = call.parameters.thread_id;
  if (message.role !== "user") throw invalid("message.role: must be user.");
  const { content } = message;
  checkMessages([{ role: "user", content }]);
  services.runRate.take(owner);
  if (namespace.length > 0)
    await services.runs.orderSubagent(owner, threadId, { subagent: namespace.join("|"), content });
  else await services.runs.steer(owner, threadId, { content, user: userOf(caller) });
  return {};
}

async function state(call: CommandCall): Promise<Result> {
  const { keys } = stateCommand.parse(call.body.params ?? {});
  const { owner, services } = call;
  const threadId = call.parameters.thread_id;
  return readingThread(services, owner, threadId, async (thread) => {
    const graph = await graphOfThread(services, thread);
    if (graph === undefined) return { values: {} };
    const { values, checkpoint } = shownState(
      await readState(graph, readingConfig(call, { threadId })),
      graph,
    );
    const all = Object.entries((values ?? {}) as Record<string, unknown>);
    return {
      values: Object.fromEntries(all.filter(([key]) => keys === undefined || keys.includes(key))),
      ...(checkpoint?.checkpoint_id && { checkpoint: { id: checkpoint.checkpoint_id } }),
    };
  });
}

async function fork(call: CommandCall): Promise<Result> {
  const { checkpoint_id, input, config } = forkCommand.parse(call.body.params);
  const threadId = call.parameters.thread_id;
  const { owner, services } = call;
  const [last] = await services.runs.list(owner, threadId, { limit: 1, offset: 0 });
  if (last === undefined) throw new Problem("NOT_FOUND", "The thread has had no run.");
  const { assistant_id } = last;
  const request = { assistant_id, input: input ?? null, config, checkpoint_id, ...STREAM };
  const run = await startRun(call, request, threadId);
  return { run_id: run.run_id, thread_id: threadId };
}
