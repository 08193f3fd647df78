/** The forms of a system prompt. */
import { SystemMessage } from "@langchain/core/messages";
import { createDeepAgent } from "library";
import { scripted } from "../../kit/scripted-model.ts";

const input = { messages: [{ role: "user", content: "go" }] };

async function sent(systemPrompt: NonNullable<Parameters<typeof createDeepAgent>[0]>["systemPrompt"]) {
  const model = scripted(["done"]);
  await createDeepAgent({ model, systemPrompt }).invoke(input);
  return model.requests[0];
}

export default async function program() {
  const text = await sent("As text.");
  const cached = { type: "text" as const, text: "As blocks.", cache_control: { type: "ephemeral" } };
  const message = await sent(new SystemMessage({ content: [cached] }));
  const config = await sent({ prefix: "Before.", base: "Instead.", suffix: "After." });
  const omitted = await sent({ base: null, suffix: new SystemMessage("Only this.") }).catch(() => undefined);
  const blocks = message?.messages[0]?.content;
  const system = config?.system ?? "";
  return {
    text: text?.system.startsWith("As text."),
    oneSystemMessage: text?.messages.filter((one) => one.getType() === "system").length,
    message: message?.system.includes("As blocks."),
    keepsCacheMark:
      Array.isArray(blocks) && blocks.some((one) => "cache_control" in one && one.text === "As blocks."),
    config: ["Before.", "Instead.", "After."].map((part) => system.includes(part)),
    order:
      system.indexOf("Before.") < system.indexOf("Instead.") &&
      system.indexOf("Instead.") < system.indexOf("After."),
    omitted: omitted?.system.includes("Only this."),
  };
}
