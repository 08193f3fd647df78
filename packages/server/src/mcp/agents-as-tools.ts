/** Agents as tools of an MCP server: one tool per agent. A call is a run. */
import { identifier } from "@deepwright/protocol";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { RunService } from "../runs/run-service.ts";
import { ServiceError } from "../runs/service-error.ts";
import { errorText, logError } from "../runs/wire/wire-error.ts";
import { loadServerSdk } from "./load-server-sdk.ts";
import { runAnswer, stepWords } from "./run-words.ts";

export interface AgentTools {
  /** Names of agents, as they are now. */
  readonly names: () => readonly string[];
  readonly runs: Pick<RunService, "start" | "stream" | "wait" | "cancel">;
  /** Owner of the threads and runs. */
  readonly owner: string;
  /** Further facts about the caller: `serverInfo.user` of the runs. */
  readonly user?: Readonly<Record<string, unknown>> | undefined;
  /** Called before a run begins; a throw refuses it. */
  readonly admit?: () => void;
  /** Aborts when the server shuts down. The runs continue: no client asked to end them. */
  readonly closing?: AbortSignal;
  /** Called for failures that the client does not see. Default: stderr. */
  readonly onError?: (error: unknown) => void;
}

const input = z.strictObject({
  message: z.string().min(1),
  thread_id: identifier.optional(),
});

const INPUT_SCHEMA: Tool["inputSchema"] = {
  type: "object",
  properties: {
    message: { type: "string", description: "What the agent is to do, with all it has to know." },
    thread_id: {
      type: "string",
      description: "Goes on with a conversation: the thread_id of an earlier answer. Absent: a new one.",
    },
  },
  required: ["message"],
  additionalProperties: false,
};

const OUTPUT_SCHEMA: Tool["outputSchema"] = {
  type: "object",
  properties: {
    thread_id: { type: "string" },
    run_id: { type: "string" },
    status: { type: "string", enum: ["success", "interrupted", "error"] },
    answer: { type: "string", description: "The last words of the agent, or why there are none." },
    waits_for: { type: "array", description: "What a person has to decide about before it goes on." },
  },
  required: ["thread_id", "run_id", "status", "answer"],
};

/** Not connected yet. One for each client. */
export async function createAgentsServer(agents: AgentTools): Promise<Server> {
  const sdk = await loadServerSdk();
  const server = new sdk.Server({ name: "deepwright", version: "0.1.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler(sdk.ListToolsRequestSchema, () => ({
    tools: [...toolsOf(agents.names())].map(([, tool]) => tool),
  }));
  server.setRequestHandler(sdk.CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    const agent = [...toolsOf(agents.names())].find(([, tool]) => tool.name === params.name)?.[0];
    if (agent === undefined) return failure(`There is no agent '${params.name}'.`);
    const given = input.safeParse(params.arguments ?? {});
    if (!given.success) return failure(z.prettifyError(given.error));
    const token = params._meta?.progressToken;
    const onStep = (progress: number, message: string): void => {
      if (token === undefined) return;
      const notification = {
        method: "notifications/progress" as const,
        params: { progressToken: token, progress, message },
      };
      void sendNotification(notification).catch(() => {});
    };
    return call(agents, agent, given.data, { signal, onStep });
  });
  return server;
}

/** Names in letters every client takes; of two that would be the same the later gets a number. */
function toolsOf(names: readonly string[]): ReadonlyMap<string, Tool> {
  const taken = new Set<string>();
  return new Map(
    names.map((agent) => {
      const plain = agent.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60);
      let name = plain;
      for (let i = 2; taken.has(name); i += 1) name = `${plain}_${i}`;
      taken.add(name);
      const description = `Gives a task to the agent '${agent}', waits until it is done and answers with its last words.`;
      return [agent, { name, description, inputSchema: INPUT_SCHEMA, outputSchema: OUTPUT_SCHEMA }] as const;
    }),
  );
}

interface Watching {
  /** Aborts when the client cancels or is gone. */
  readonly signal: AbortSignal;
  readonly onStep: (progress: number, message: string) => void;
}

async function call(
  { runs, owner, user, admit, closing, onError = logError }: AgentTools,
  agent: string,
  { message, thread_id: threadId }: z.infer<typeof input>,
  { signal, onStep }: Watching,
): Promise<CallToolResult> {
  try {
    admit?.();
    const run = await runs.start({
      owner,
      user,
      ...(threadId !== undefined && { threadId }),
      request: {
        assistant_id: agent,
        input: { messages: [{ role: "user", content: message }] },
        stream_mode: ["updates"],
        on_completion: "keep",
      } as never,
      strategy: "reject",
    });
    const end = (): void => {
      if (!closing?.aborted) void runs.cancel(owner, run.run_id).catch(() => {});
    };
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    let steps = 0;
    for await (const { event, data } of runs.stream(owner, run.run_id, { signal })) {
      const words = event.startsWith("updates") ? stepWords(data) : undefined;
      if (words !== undefined) onStep(++steps, words);
    }
    const answer = runAnswer(await runs.wait(owner, run.run_id, { signal }));
    const structuredContent = { thread_id: run.thread_id, run_id: run.run_id, ...answer };
    return {
      content: [{ type: "text", text: answer.answer }],
      structuredContent,
      ...(answer.status === "error" && { isError: true }),
    };
  } catch (error) {
    const { name, message: words = "" } = (error ?? {}) as Partial<Error>;
    if (error instanceof ServiceError || name === "Problem") return failure(errorText(words));
    // The protocol sends a thrown error to the client with its whole text.
    if (!signal.aborted) onError(error);
    return failure("The server failed; its log says why.");
  }
}

/** The client's model reads it. */
function failure(words: string): CallToolResult {
  return { content: [{ type: "text", text: words }], isError: true };
}
