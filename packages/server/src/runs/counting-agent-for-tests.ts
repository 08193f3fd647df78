/** An agent of ten steps, each of which leaves a line in a file: for tests of processes that die. */
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { z } from "zod";

const STEPS = 10;

/** `crash`: the process ends in the middle of the third step; `stumble`: of every even one, the first time. `slow`: a step takes 500 ms. */
export function countingAgent(directory: string, mode: string) {
  const count = tool(
    async ({ step }, config) => {
      const thread = config.configurable?.thread_id as string;
      if (mode === "crash" && step === 3) process.kill(process.pid, "SIGKILL");
      if (mode === "stumble" && step % 2 === 0) dieOnce(join(directory, `died-${step}`));
      if (mode !== "fast") await new Promise((go) => setTimeout(go, mode === "slow" ? 500 : 50));
      appendFileSync(join(directory, `${thread}.log`), `${step}\n`);
      return `step ${step}`;
    },
    { name: "count", description: "Counts.", schema: z.object({ step: z.number() }) },
  );
  const model = scriptedModel(({ messages }) => {
    const done = messages.filter((message) => ToolMessage.isInstance(message)).length;
    return done < STEPS ? callTool("count", { step: done + 1 }) : say("done");
  });
  return createDeepAgent({ model, tools: [count] });
}

function dieOnce(mark: string): void {
  if (existsSync(mark)) return;
  writeFileSync(mark, "");
  process.kill(process.pid, "SIGKILL");
}
