/** A stream transformer of the program, and the other projections of a v3 stream. */
import type { ProtocolEvent, StreamTransformer } from "@langchain/langgraph";
import { createDeepAgent } from "library";
import { call, scripted } from "../../kit/scripted-model.ts";

/** Counts the ends of tool calls. */
function countTools(): StreamTransformer<{ toolsFinished: Promise<number> }> {
  let count = 0;
  let finish: (value: number) => void = () => {};
  const toolsFinished = new Promise<number>((done) => {
    finish = done;
  });
  return {
    init: () => ({ toolsFinished }),
    process: (event: ProtocolEvent) => {
      const data = event.params.data as { event?: string } | undefined;
      if (event.method === "tools" && data?.event === "tool-finished") count++;
      return true;
    },
    finalize: () => finish(count),
  };
}

export default async function program() {
  const agent = createDeepAgent({
    model: scripted([call("ls", { path: "/" }), call("glob", { pattern: "*" }), "done"]),
    streamTransformers: [countTools],
  });
  const run = await agent.streamEvents({ messages: [{ role: "user", content: "go" }] }, { version: "v3" });
  const sizes: number[] = [];
  for await (const values of run.values)
    sizes.push((values as { messages?: unknown[] }).messages?.length ?? 0);
  const output = await run.output;
  return {
    sizes: [...new Set(sizes)],
    finished: await run.extensions.toolsFinished,
    interrupted: run.interrupted,
    interrupts: run.interrupts.length,
    last: output.messages.at(-1)?.text,
  };
}
