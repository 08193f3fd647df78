/** A supervisor that does as it is told, and agents that work for it in the background. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createDeepAgent, LocalShellBackend } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { z } from "zod";
import { afterThisFile } from "../../../../scripts/test-cleanups.mjs";
import { TOKEN } from "../server-for-tests.ts";

/**
 * `<tool> <JSON>` on a line each is called; to anything else it says what it heard. Given as functions: the names of
 * its subagents are agents of the server. With the address of another that has the same agents, those of it can be
 * given tasks too, as `far-helper` and so on.
 */
export function backgroundAgents(elsewhere?: string): Record<string, () => object> {
  const far = (...names: string[]) =>
    elsewhere === undefined ? [] : names.map((name) => ({ ...helper(name), ...farAway(name, elsewhere) }));
  return {
    boss: () =>
      createDeepAgent({
        model: obedient(),
        subagents: [
          ...["helper", "middle", "shell"].map(helper),
          ...far("helper", "middle", "shell", "teller"),
        ],
      }),
    middle: () => createDeepAgent({ model: obedient(), subagents: [helper("helper"), ...far("helper")] }),
    shell: () => createDeepAgent({ model: obedient(), backend: emptyDirectory() }),
    walker: () => createDeepAgent({ model: walking(), tools: [nap] }),
    helper: () => helperAgent(),
  };
}

/** Its own, because everything in the directory of a command is kept for undo. */
function emptyDirectory(): LocalShellBackend {
  const rootDir = mkdtempSync(join(tmpdir(), "background-shell-"));
  afterThisFile(() => rmSync(rootDir, { recursive: true, force: true }));
  return new LocalShellBackend({ rootDir });
}

/** The key of the other server is the one of all servers of tests. */
const farAway = (name: string, url: string) => ({
  name: `far-${name}`,
  url,
  headers: { authorization: `Bearer ${TOKEN}` },
  callback: name === "teller",
});

/** See `helping`. */
export function helperAgent(middleware: readonly never[] = []) {
  return createDeepAgent({ model: helping(), tools: [waitFor, ask], interruptOn: { ask: true }, middleware });
}

const helper = (name: string) => ({ name, description: `The agent ${name}.`, graphId: name });

function obedient() {
  return scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1);
      if (ToolMessage.isInstance(last)) return say("ok");
      const calls = [...String(last?.text ?? "").matchAll(/^([a-z_]+) (\{.*\})$/gm)];
      if (calls.length === 0) return say(`heard: ${heard(messages)}`);
      return { toolCalls: calls.map(([, name = "", args = "{}"]) => ({ name, args: JSON.parse(args) })) };
    },
    { record: false },
  );
}

/** How many messages came since it last spoke. */
function heard(messages: readonly { text: string }[]): string {
  const since = messages.findLastIndex((message) => AIMessage.isInstance(message));
  return String(messages.slice(since + 1).filter((message) => HumanMessage.isInstance(message)).length);
}

/** `walk <file>`: step by step, until it is there. */
function walking() {
  return scriptedModel(
    ({ messages }) => {
      const [, file = ""] = String(messages.find(({ text }) => text.startsWith("walk "))?.text).split(" ");
      return existsSync(file) ? say("there") : callTool("nap", { step: messages.length });
    },
    { record: false },
  );
}

const nap = tool(() => new Promise<string>((done) => setTimeout(done, 100, "slept")), {
  name: "nap",
  description: "Waits a moment.",
  schema: z.object({ step: z.number() }),
});

/** `wait <file>`, `half <file>`: until it is there; `ask`: a person; `fail`: when half of it is done; anything else is repeated. */
function helping() {
  return scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1);
      const orders = messages.filter((message) => HumanMessage.isInstance(message)).map(({ text }) => text);
      if (ToolMessage.isInstance(last) && orders.at(-1) === "fail") throw new Error("the model is gone");
      if (ToolMessage.isInstance(last)) return say(`done: ${orders.join(", ")}`);
      const [word, file] = String(last?.text ?? "").split(" ");
      if (word === "wait") return callTool("wait_for", { file });
      if (word === "half") return { ...callTool("wait_for", { file }), text: "half of it is done" };
      if (word === "fail") return { ...callTool("wait_for", { file: "/" }), text: "half of it is done" };
      if (word === "ask") return callTool("ask", {});
      return say(`done: ${orders.join(", ")}`);
    },
    { record: false },
  );
}

const waitFor = tool(
  async ({ file }, { signal }: { signal?: AbortSignal }) => {
    while (!existsSync(file)) {
      signal?.throwIfAborted();
      await new Promise((go) => setTimeout(go, 20));
    }
    return "waited";
  },
  { name: "wait_for", description: "Waits for a file.", schema: z.object({ file: z.string() }) },
);

const ask = tool(() => "asked", { name: "ask", description: "Asks.", schema: z.object({}) });

/** A message that has the supervisor give a task. */
export const startTask = (description: string, subagent_type = "helper"): string =>
  `start_async_task ${JSON.stringify({ description, subagent_type })}`;
