/** Questions asked in one process and answered in another, by the agent itself and three levels down. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { testProgram } from "../../../../scripts/test-program.mjs";
import { type ApprovalRun, type Kind, type ThreadReport, threadOf } from "./fixtures/approval-process.ts";
import { startProgram } from "./processes-for-tests.ts";
import { scratchDirectory } from "./scratch-for-tests.ts";
import { SqliteSaver } from "./sqlite-saver.ts";

const KINDS: readonly Kind[] = ["auto", "approve", "edit", "reject", "respond"];
const PROGRAM = await testProgram(new URL("./fixtures/approval-process.ts", import.meta.url));

/** One to five calls, all kinds in all places; each has something to ask about. */
const MIXES: readonly (readonly Kind[])[] = [
  ...KINDS.slice(1).map((kind) => [kind]),
  ["auto", "reject"],
  ["respond", "approve", "edit"],
  ["reject", "auto", "approve", "respond"],
  ["edit", "reject", "auto", "approve", "respond"],
  ["approve", "approve", "reject", "edit", "auto"],
];

async function runProcess(run: ApprovalRun): Promise<Record<string, ThreadReport>> {
  const process = startProgram(PROGRAM, JSON.stringify(run));
  await process.ended;
  return JSON.parse(process.output());
}

/** Calls that ran, by thread. */
function effects(log: string): Map<string, string[]> {
  const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
  const found = new Map<string, string[]>();
  for (const line of lines.filter(Boolean)) {
    const [thread, name, amount] = JSON.parse(line);
    found.set(thread, [...(found.get(thread) ?? []), `${name} ${amount}`].sort());
  }
  return found;
}

function expectedEffects(mix: readonly Kind[]): string[] {
  const ran = mix.map((kind, i) => {
    if (kind === "auto") return `look ${i}`;
    if (kind === "edit") return `pay ${100 + i}`;
    return kind === "approve" ? `pay ${i}` : "";
  });
  return ran.filter(Boolean).sort();
}

/** The newest messages of the agent that made the calls. */
async function messagesAt(saver: SqliteSaver, thread: string, depth: number): Promise<BaseMessage[]> {
  for await (const { config, checkpoint } of saver.list({ configurable: { thread_id: thread } })) {
    const namespace = String(config.configurable?.checkpoint_ns ?? "");
    const level = namespace === "" ? 1 : namespace.split("|").length + 1;
    if (level === depth) return checkpoint.channel_values.messages as BaseMessage[];
  }
  return [];
}

describe("a question that is answered in another process", () => {
  it.each([1, 3] as const)(
    "every decision finds its call at depth %i; each call has one result",
    async (depth) => {
      const directory = scratchDirectory();
      const files = { database: join(directory, "state.db"), log: join(directory, "log.txt") };
      const asked = await runProcess({ ...files, how: "ask", depth, mixes: MIXES });
      expect(effects(files.log).size).toBe(0);
      for (const mix of MIXES) {
        const { questions } = asked[threadOf(depth, mix)] as ThreadReport;
        expect(questions).toHaveLength(1);
        expect(questions[0].actionRequests).toHaveLength(mix.filter((kind) => kind !== "auto").length);
        expect(questions[0].agentPath).toEqual(depth === 1 ? undefined : ["deputy", "clerk"]);
      }
      const answered = await runProcess({ ...files, how: "answer", depth, mixes: MIXES });
      const ran = effects(files.log);
      const saver = await SqliteSaver.open(files.database);
      for (const mix of MIXES) {
        const thread = threadOf(depth, mix);
        expect([answered[thread]?.questions, answered[thread]?.last]).toEqual([[], "done"]);
        expect(ran.get(thread) ?? [], thread).toEqual(expectedEffects(mix));
        const messages = await messagesAt(saver, thread, depth);
        const turn = messages.find(AIMessage.isInstance);
        expect(turn?.tool_calls?.map(({ args }) => args.amount)).toEqual(
          mix.map((kind, i) => (kind === "edit" ? 100 + i : i)),
        );
        const results = messages.filter((message) => message.type === "tool") as any[];
        expect(results.map((result) => [result.tool_call_id, result.status])).toEqual(
          mix.map((kind, i) => [`call-${i}`, kind === "reject" ? "error" : "success"]),
        );
      }
      await saver.close();
    },
  );
});
