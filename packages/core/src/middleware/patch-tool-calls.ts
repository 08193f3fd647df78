import type { AgentMiddleware } from "langchain";
import { requestMessages } from "../loop/messages/request.ts";

/**
 * Makes every request valid in a loop that does not do so itself: each call has one result, behind
 * it and in order. In a deep agent this is built into the loop and the middleware adds nothing.
 */
export function createPatchToolCallsMiddleware(): AgentMiddleware {
  return {
    name: "patchToolCallsMiddleware",
    wrapModelCall: (request, handler) =>
      handler({ ...request, messages: [...requestMessages(request.messages)] }),
  };
}
