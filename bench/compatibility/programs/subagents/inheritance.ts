/** Subagents inherit tools, skills, context and state. */
import { tool } from "@langchain/core/tools";
import { StateSchema } from "@langchain/langgraph";
import type { ToolRuntime } from "langchain";
import { createDeepAgent, FilesystemBackend } from "library";
import { z } from "zod";
import { fill, scratch } from "../../kit/scratch.ts";
import { call, type Request, scripted } from "../../kit/scripted-model.ts";

const contextSchema = z.object({ user: z.string() });
const seen: unknown[] = [];
const whoami = tool(
  (_, runtime: ToolRuntime<{ project?: string }, typeof contextSchema>) => {
    seen.push([runtime.context?.user, runtime.state.project]);
    return "you";
  },
  { name: "whoami", description: "Who am I?", schema: z.object({}) },
);

export default async function program() {
  const rootDir = scratch("inheritance");
  fill(rootDir, { "skills/web/SKILL.md": "---\nname: web\ndescription: Searches the web.\n---\nBody\n" });
  const children: Record<string, Request> = {};
  const childModel = (name: string) =>
    scripted((request) => {
      if (request.turn > 0) return "child done";
      children[name] = request;
      return call("whoami", {}, `${name}-1`);
    });
  const main = scripted((request) => {
    const first = request.messages.find((one) => one.getType() === "human")?.text;
    if (first === "general") {
      children.general ??= request;
      return "general done";
    }
    if (request.turn > 0) return "done";
    const task = (type: string) => ({
      name: "task",
      args: { subagent_type: type, description: type === "general-purpose" ? "general" : type },
    });
    return { calls: [task("plain"), task("skilled"), task("general-purpose")] };
  });
  const agent = createDeepAgent({
    model: main,
    tools: [whoami],
    backend: new FilesystemBackend({ rootDir, virtualMode: true }),
    skills: ["/skills/"],
    systemPrompt: "Prompt of the lead.",
    contextSchema,
    stateSchema: new StateSchema({ project: z.string().optional() }),
    subagents: [
      { name: "plain", description: "Plain.", systemPrompt: "Plain.", model: childModel("plain") },
      {
        name: "skilled",
        description: "Skilled.",
        systemPrompt: "Skilled.",
        model: childModel("skilled"),
        skills: ["/skills/"],
      },
    ],
  });
  await agent.invoke(
    { messages: [{ role: "user", content: "go" }], project: "apollo" },
    { context: { user: "ann" } },
  );
  const facts = (name: string) => ({
    skills: children[name]?.system.includes("Searches the web."),
    lead: children[name]?.system.includes("Prompt of the lead."),
    whoami: children[name]?.tools.some((one) => one.name === "whoami"),
    task: children[name]?.tools.some((one) => one.name === "task"),
  });
  return { plain: facts("plain"), skilled: facts("skilled"), general: facts("general"), seen };
}
