/** Ways in which a run ends early: a signal, a limit of steps, a model that fails, a long repeated conversation. */
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "library";
import { z } from "zod";
import { outcome } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const input = { messages: [{ role: "user", content: "go" }] };

export default async function program() {
  const controller = new AbortController();
  const stop = tool(
    () => {
      controller.abort();
      return new Promise<string>((done) => setTimeout(() => done("late"), 200));
    },
    { name: "stop", description: "Stops.", schema: z.object({}) },
  );
  const stopped = scripted([call("stop", {}), "never"]);
  const stopping = createDeepAgent({ model: stopped, tools: [stop] });
  const aborted = await outcome(() => stopping.invoke(input, { signal: controller.signal }));
  const long = createDeepAgent({
    model: scripted(({ turn }) => (turn < 8 ? call("ls", { path: `/${turn}` }, `c${turn}`) : "end")),
  });
  const failing = createDeepAgent({ model: scripted(() => new TypeError("no such model")) });
  const history = Array.from({ length: 11 }, (_, i) => [
    new HumanMessage(`q${i}`),
    new AIMessage("Noted."),
  ]).flat();
  const talker = scripted(["an answer"]);
  const talked = await createDeepAgent({ model: talker }).invoke({
    messages: [...history, new HumanMessage("now?")],
  });
  return {
    aborted,
    callsAfterAbort: stopped.requests.length,
    fewSteps: await outcome(() => long.invoke(input, { recursionLimit: 4 })),
    manySteps: await outcome(() => long.invoke(input, { recursionLimit: 100 })),
    failing: await outcome(() => failing.invoke(input)),
    calls: talker.requests.length,
    talked: talked.messages.at(-1)?.text,
  };
}
