import type { BaseMessage } from "@langchain/core/messages";
import { StateSchema } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { expect, it } from "vitest";
import { talk } from "../../context/fixtures/agents-for-tests.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";
import type { Stages } from "../contract/stages.ts";
import { remindersValue } from "../messages/reminders.ts";
import { hooksForStages } from "./stage-hooks.ts";

const staged = (name: string, stages: Stages) => ({
  name,
  stateSchema: new StateSchema({ _reminders: remindersValue() }) as never,
  ...hooksForStages(stages),
});

it("in LangChain's own loop each reminder is said once, also when parallel calls and two middlewares bring it", async () => {
  const talked = { name: "talk", args: { words: 2 } };
  const model = scriptedModel([{ toolCalls: [talked, talked] }, callTool("talk", { words: 1 }), say("bye")]);
  const reminds: Stages = {
    result: (message, call, task) => {
      const turn = (task.read("messages") as BaseMessage[]).at(-1);
      for (const id of ["shared", `own-${call.id}`])
        task.remind({ id, after: turn?.id ?? "", text: `told ${id}` });
      return message;
    },
  };
  const middleware = [staged("one", reminds), staged("two", reminds)];
  await createAgent({ model, tools: [talk], middleware }).invoke({ messages: ["go"] as never });
  const told = model.calls.map((call) =>
    call.messages
      .filter(({ text }) => text.includes("told "))
      .map(({ text }) => /told (\S+)/.exec(text)?.[1]),
  );
  expect(told[0]).toEqual([]);
  expect(told[1]).toHaveLength(3);
  expect(new Set(told[1])).toHaveLength(3);
  expect(told[2]?.slice(0, 3)).toEqual(told[1]);
  expect(told[2]).toHaveLength(4);
});
