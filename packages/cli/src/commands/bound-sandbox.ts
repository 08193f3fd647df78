/**
 * Stores the sandbox of a thread in its state, and runs no call that was made for another. The process that answers a
 * question may run elsewhere than the one that asked.
 */
import { ToolMessage } from "@langchain/core/messages";
import { Annotation } from "@langchain/langgraph";
import { keptSandbox, placeOf, SANDBOX, SANDBOX_OF_SERVER, type ThreadSandbox } from "./thread-sandbox.ts";

interface CallRequest {
  readonly toolCall: { readonly id?: string; readonly name: string };
  readonly state: Readonly<Record<string, unknown>>;
}

/** The caller puts the sandbox into the input of a run. */
export function boundSandbox(sandbox: ThreadSandbox) {
  return {
    name: "ThreadSandboxMiddleware",
    stateSchema: Annotation.Root({ [SANDBOX]: Annotation<ThreadSandbox>() }),
    wrapToolCall: boundCalls(SANDBOX, sandbox),
  };
}

/** Clients begin the runs: it is no affair of theirs. */
export function boundSandboxOfServer(sandbox: ThreadSandbox) {
  return {
    name: "ServerSandboxMiddleware",
    stateSchema: Annotation.Root({ [SANDBOX_OF_SERVER]: Annotation<ThreadSandbox>() }),
    beforeAgent: () => ({ [SANDBOX_OF_SERVER]: sandbox }),
    wrapToolCall: boundCalls(SANDBOX_OF_SERVER, sandbox),
  };
}

function boundCalls(key: string, sandbox: ThreadSandbox) {
  const own = placeOf(sandbox);
  return <Request extends CallRequest, Result>(
    request: Request,
    handler: (request: Request) => Result,
  ): Result | ToolMessage => {
    const began = keptSandbox(request.state[key]);
    if (began === undefined || placeOf(began) === own) return handler(request);
    const { id = "", name } = request.toolCall;
    return new ToolMessage({ content: ELSEWHERE, tool_call_id: id, name, status: "error" });
  };
}

/** Text for the model. */
const ELSEWHERE =
  "Error: The call did not run. It was made, and perhaps approved, for another sandbox or directory than this run has. Say so in your answer; with a new message work can go on here.";
