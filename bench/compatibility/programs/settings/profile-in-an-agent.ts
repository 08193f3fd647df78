/** Effects of a registered profile on an agent. */
import { createMiddleware } from "langchain";
import { createDeepAgent, registerHarnessProfile } from "library";
import { results } from "../../kit/look.ts";
import { call, ScriptedModel } from "../../kit/scripted-model.ts";

/** Looks like a model of a provider that has a package of its own. */
class ChatOpenAI extends ScriptedModel {
  static override lc_name() {
    return "ChatOpenAI";
  }
  override lc_namespace = ["langchain", "chat_models", "openai"];
}

export default async function program() {
  const seen: string[] = [];
  registerHarnessProfile("openai:profiled-model", {
    baseSystemPrompt: "Base of the profile.",
    systemPromptSuffix: "Suffix of the profile.",
    excludedTools: ["grep"],
    toolDescriptionOverrides: { ls: "Lists, says the profile." },
    generalPurposeSubagent: { description: "A helper of the profile." },
    extraMiddleware: () => [
      createMiddleware({
        name: "Extra",
        beforeModel: () => {
          seen.push("extra");
        },
      }),
    ],
  });
  const model = new ChatOpenAI([call("grep", { pattern: "x" }), "done"], { model: "profiled-model" });
  const agent = createDeepAgent({ model, systemPrompt: "Prompt of the program." });
  const result = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  const request = model.requests[0];
  const named = (name: string) => request?.tools.find((tool) => tool.name === name);
  const parts = ["Prompt of the program.", "Base of the profile.", "Suffix of the profile."];
  return {
    parts: parts.map((part) => request?.system.includes(part)),
    order: parts
      .map((part) => request?.system.indexOf(part) ?? -1)
      .every((at, i, all) => i === 0 || at > (all[i - 1] ?? 0)),
    grepIsOffered: named("grep") !== undefined,
    grepRefused: results(result.messages, "grep").length === 1,
    ls: named("ls")?.description,
    helper: named("task")?.description.includes("A helper of the profile."),
    extra: seen.length,
  };
}
