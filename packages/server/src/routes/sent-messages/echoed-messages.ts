/**
 * Messages that a client sends back to the thread it has them from. AG-UI sends the whole state along with each new message, with
 * the calls and results in it. Nobody but the agent may write those, so the stored ones stay and the copies are left out.
 */
import type { CreateRun } from "@deepwright/protocol";
import { isRecord } from "deepwright/check-options";
import { hasCalls } from "../../runs/input/message-calls.ts";
import { givesAnswer } from "../../runs/input/run-input.ts";
import { readThread } from "../../runs/thread-view.ts";
import type { Services } from "../services.ts";
import { graphOfThread } from "../thread-parts.ts";

/** The request without copies of messages that only the agent writes. An answer to an interrupt comes without any input. */
export async function withoutEchoes(
  services: Services,
  owner: string,
  request: CreateRun,
  threadId: string | undefined,
): Promise<CreateRun> {
  const { input } = request;
  if (givesAnswer(request)) return { ...request, input: undefined };
  if (threadId === undefined || !isRecord(input) || !Array.isArray(input.messages)) return request;
  if (!input.messages.some(mayBeEcho)) return request;
  const known = await messageIds(services, owner, threadId);
  const isEcho = (message: unknown) => mayBeEcho(message) && known.has(message.id);
  return {
    ...request,
    input: { ...input, messages: input.messages.filter((message) => !isEcho(message)) },
  };
}

/** True for a message with an id, of a kind that clients may not send. */
function mayBeEcho(message: unknown): message is { readonly id: string } {
  if (!isRecord(message) || typeof message.id !== "string") return false;
  return hasCalls(message) || message.type === "tool" || message.role === "tool";
}

async function messageIds(services: Services, owner: string, threadId: string): Promise<ReadonlySet<string>> {
  const head = await services.records.threads.head(owner, threadId);
  const graph = head && (await graphOfThread(services, head));
  return graph ? (await readThread(graph, threadId)).messageIds : new Set();
}
