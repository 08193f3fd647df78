/** An approval of a command holds for the files it names, with the content they had when it was shown. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { Command, type Interrupt, MemorySaver } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { describe, expect, onTestFinished, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { createDeepAgent } from "../../agent.ts";
import type { CreateDeepAgentParams } from "../../agent-types.ts";
import { LocalShellBackend } from "../../backends/shell/local-shell.ts";
import { type Script, type ScriptedCall, say, scriptedModel } from "../../testing/index.ts";
import type { ApprovalRequest } from "../approval-rules/approval-policy.ts";

const T = { configurable: { thread_id: "t" } };
const ASK = { messages: [{ role: "user", content: "Go." }] };
const RUN: ScriptedCall = { name: "execute", args: { command: "bash run.sh" } };
const REWRITE: ScriptedCall = {
  name: "edit_file",
  args: { file_path: "/run.sh", old_string: "harmless", new_string: "evil", replace_all: true },
};

interface State {
  readonly messages: BaseMessage[];
  readonly __interrupt__?: Interrupt[];
}

async function directoryWith(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "inputs-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text);
  return root;
}

async function agentIn(files: Record<string, string>, script: Script, options: object = {}) {
  const root = await directoryWith(files);
  const agent = createDeepAgent({
    model: scriptedModel(script),
    backend: new LocalShellBackend({ rootDir: root, virtualMode: true }),
    interruptOn: { execute: true },
    checkpointer: new MemorySaver(),
    ...options,
  } as CreateDeepAgentParams);
  const start = async () => (await agent.invoke(ASK as never, T)) as unknown as State;
  const answer = async (decision: object, id?: string) => {
    const decisions = { decisions: [decision] };
    const resume = id === undefined ? decisions : { [id]: decisions };
    return (await agent.invoke(new Command({ resume }) as never, T)) as unknown as State;
  };
  return { root, start, answer };
}

const approve = { type: "approve" };
const turn = (...toolCalls: ScriptedCall[]) => ({ toolCalls });
const questionOf = ({ __interrupt__ = [] }: State): string =>
  (__interrupt__[0]?.value as ApprovalRequest | undefined)?.actionRequests[0]?.description ?? "";
const resultsOf = ({ messages }: State): string[] =>
  messages.filter((message) => ToolMessage.isInstance(message)).map((message) => message.text);

describe("a file that changes between the question and the command", () => {
  test("by a call of the same turn: nothing runs, and the person is asked again with the difference", async () => {
    const { start, answer } = await agentIn(
      { "run.sh": "echo one\necho harmless\n" },
      [turn(REWRITE, RUN), turn(RUN), say("done")],
      { toolConcurrency: 1 },
    );
    const first = questionOf(await start());
    expect(first).toContain("The approval holds for /run.sh as it is now.");
    const again = await answer(approve);
    expect(resultsOf(again)[1]).toMatch(
      /^Error: \/run\.sh changed since this call was approved\. Nothing was run/,
    );
    expect(questionOf(again)).toContain("/run.sh changed since you were last asked:");
    expect(questionOf(again)).toContain("  | -echo harmless\n  | +echo evil");
    expect(resultsOf(await answer(approve))[2]).toContain("one\nevil");
  });

  test("by a subagent beside the one that asks", async () => {
    const child = (name: string, call: ScriptedCall) => ({
      name,
      description: name,
      systemPrompt: name,
      model: scriptedModel([turn(call), say(`${name} done`)]),
    });
    const delegate = (name: string): ScriptedCall => ({
      name: "task",
      args: { description: "Go.", subagent_type: name },
    });
    const { start, answer, root } = await agentIn(
      { "run.sh": "echo harmless > out\n" },
      [turn(delegate("runner"), delegate("writer")), say("done")],
      {
        interruptOn: { execute: true, edit_file: true },
        subagents: [child("runner", RUN), child("writer", REWRITE)],
      },
    );
    const { __interrupt__ = [] } = await start();
    const idOf = (name: string) =>
      __interrupt__.find(({ value }) => (value as ApprovalRequest).agentPath?.[0] === name)?.id as string;
    await answer(approve, idOf("writer"));
    expect(await readFile(join(root, "run.sh"), "utf8")).toContain("evil");
    await answer(approve, idOf("runner"));
    expect(existsSync(join(root, "out"))).toBe(false);
  });

  test("one that was not there, and one that is gone, are changes too", async () => {
    const appears = await agentIn({}, [turn(RUN), say("done")]);
    await appears.start();
    await writeFile(join(appears.root, "run.sh"), "echo evil > out\n");
    expect(resultsOf(await appears.answer(approve))[0]).toMatch(/run\.sh changed/);
    const goes = await agentIn({ "run.sh": "" }, [turn(RUN), say("done")]);
    await goes.start();
    await rm(join(goes.root, "run.sh"));
    expect(resultsOf(await goes.answer(approve))[0]).toMatch(/run\.sh changed/);
  });
});

test("changes of files wait until an approved command has ended", async () => {
  const waits = createMiddleware({
    name: "Waits",
    wrapToolCall: async (request, handler) => {
      if (request.toolCall.name === "edit_file") await until(() => existsSync(join(root, "started")));
      return handler(request);
    },
  });
  const script =
    "# harmless\ntouch started\nfor i in $(seq 50); do grep -q '# ev[i]l' run.sh && break; sleep 0.02; done\ncat run.sh\n";
  const { root, start, answer } = await agentIn({ "run.sh": script }, [turn(RUN, REWRITE), say("done")], {
    middleware: [waits],
  });
  await start();
  const results = resultsOf(await answer(approve));
  expect(results[0]).toContain("# harmless");
  expect(results[1]).not.toContain("Error");
  expect(await readFile(join(root, "run.sh"), "utf8")).toContain("# evil");
});

test("a file that did not change: one question, and the command runs", async () => {
  const { start, answer } = await agentIn({ "run.sh": "echo harmless\n" }, [turn(RUN), say("done")]);
  await start();
  const done = await answer(approve);
  expect(done.__interrupt__).toBeUndefined();
  expect(resultsOf(done)[0]).toContain("harmless");
});

test("an approval for the thread holds as long as the files are the same, and is asked for again after that", async () => {
  const { start, answer } = await agentIn({ "run.sh": "echo harmless\n" }, [
    turn(RUN),
    turn(RUN),
    turn(REWRITE),
    turn(RUN),
    say("done"),
  ]);
  await start();
  const asked = await answer({ type: "approve", remember: "thread" });
  expect(resultsOf(asked).map((text) => text.split("\n")[0])).toEqual([
    "harmless",
    "harmless",
    expect.stringContaining("replaced 1 occurrence"),
  ]);
  expect(questionOf(asked)).toContain("  | +echo evil");
});

describe("the question says which files the approval holds for, and when they are not known", () => {
  const HOLDS = /The approval holds for (.*) as (?:it is|they are) now\./;
  test.each<[string, string | undefined, boolean]>([
    ["bash run.sh", "/run.sh", false],
    ["bash ./run.sh > out.txt 2>&1", "/run.sh", false],
    ["FOO=1 bash 'run.sh' && cat a.txt", "/a.txt, /run.sh", false],
    ["node --require=./a.txt run.sh", "/a.txt, /run.sh", false],
    ["cd sub && bash inner.sh", "/sub/inner.sh", false],
    ["echo hello", undefined, false],
    ["bash *.sh", undefined, true],
    ["bash $FILE", undefined, true],
    ["make", undefined, true],
    ["make -f run.sh", "/run.sh", true],
    ["npm test", undefined, true],
    ["bash -c 'bash run.sh' a.txt", "/a.txt", true],
    ["bash sub", undefined, true],
    ["bash ../run.sh", undefined, true],
    ["bash /elsewhere/run.sh", undefined, true],
    ["/usr/bin/bash run.sh", "/run.sh", false],
  ])("%s", async (command, files, isOpen) => {
    const { root, start } = await agentIn({ "run.sh": "", "a.txt": "" }, [
      turn({ name: "execute", args: { command } }),
      say("done"),
    ]);
    await mkdir(join(root, "sub"));
    await writeFile(join(root, "sub/inner.sh"), "");
    const question = questionOf(await start());
    expect(HOLDS.exec(question)?.[1]).toBe(files);
    expect(question.includes("not known")).toBe(isOpen);
  });
});
