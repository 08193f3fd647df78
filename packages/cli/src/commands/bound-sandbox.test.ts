import { ToolMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { boundSandbox } from "./bound-sandbox.ts";
import { SANDBOX, type ThreadSandbox } from "./thread-sandbox.ts";

const HERE: ThreadSandbox = { kind: "os", isAskedFor: false, hosts: [], directory: "/here" };
const toolCall = { id: "1", name: "execute" };

it.each<[string, unknown, boolean]>([
  ["in the same sandbox", HERE, true],
  ["in one that was not kept", undefined, true],
  ["in another directory", { ...HERE, directory: "/there" }, false],
  ["in a cloud", { ...HERE, kind: "e2b" }, false],
  ["with other hosts", { ...HERE, hosts: ["a.example"] }, false],
])("the run began %s, and the call is run only in that one", (_, began, runs) => {
  const { wrapToolCall } = boundSandbox(HERE);
  const result = wrapToolCall({ toolCall, state: { [SANDBOX]: began } }, () => "ran");
  if (runs) expect(result).toBe("ran");
  else expect(result).toMatchObject({ status: "error", tool_call_id: "1", name: "execute" });
  expect(ToolMessage.isInstance(result)).toBe(!runs);
});
