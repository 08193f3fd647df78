/** An agent that says and counts ten steps, holds at the fifth until a file is there, and then asks to write. */
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { z } from "zod";

export const STEPS = 10;
const HELD = 5;

/** Lines of `steps.log` in the directory say which process worked on which step; the file `gate` ends the hold. */
export function countingAgent(directory: string) {
  const count = tool(
    async ({ step }, config) => {
      appendFileSync(join(directory, "steps.log"), `${process.pid} ${step}\n`);
      while (step === HELD && !existsSync(join(directory, "gate"))) {
        config.signal?.throwIfAborted();
        await new Promise((go) => setTimeout(go, 20));
      }
      return `counted ${step}`;
    },
    { name: "count", description: "Counts.", schema: z.object({ step: z.number() }) },
  );
  const model = scriptedModel(
    ({ messages }) => {
      const done = messages.filter((message) => ToolMessage.isInstance(message)).length;
      if (done < STEPS)
        return { ...say(`This is step ${done + 1} of ${STEPS}.`), ...callTool("count", { step: done + 1 }) };
      if (done === STEPS) return callTool("write_file", { file_path: "/count.md", content: "ten\n" });
      return say("All is counted.");
    },
    { record: false, chunkLatency: 2, chunkSize: 4 },
  );
  return createDeepAgent({ model, tools: [count], interruptOn: { write_file: true } });
}
