/**
 * A team: two researchers at once, a coder who works from their notes, a reviewer who may only read. What they hand
 * each other are files on disk; the coordinator gets short reports.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/research-team.ts
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tool } from "@langchain/core/tools";
import { CompositeBackend, createDeepAgent, FilesystemBackend, StateBackend } from "deepwright";
import { callTool, type ScriptedRequest } from "deepwright/testing";
import { z } from "zod";
import { handOut, modelOrScript } from "./support/model.ts";

const facts = { queues: "First in, first out.", stacks: "Last in, first out." };
const search = tool(async ({ query }) => facts[query], {
  name: "search",
  description: "Look a word up.",
  schema: z.object({ query: z.enum(["queues", "stacks"]) }),
});

function research({ messages }: ScriptedRequest) {
  const query = messages.some(({ text }) => text.includes("queues")) ? "queues" : "stacks";
  const notes = { file_path: `/research/${query}.md`, content: `${facts[query]}\n` };
  const turns = [callTool("search", { query }), callTool("write_file", notes)];
  return turns[messages.filter(({ type }) => type === "ai").length] ?? `See ${notes.file_path}.`;
}

const researcher = {
  name: "researcher",
  description: "Looks one topic up and leaves notes in /research/<topic>.md.",
  systemPrompt: "Search, write what you found to /research/<topic>.md, and report the path.",
  tools: [search],
  model: modelOrScript(research),
};
const code = { file_path: "/research/take.ts", content: "export const take = { queue: 'shift' };\n" };
const coder = {
  name: "coder",
  description: "Writes code from notes.",
  systemPrompt: "Read the notes you are told of, write the code beside them, and report the path.",
  tools: [], // The file tools only.
  model: modelOrScript([callTool("grep", { pattern: "out" }), callTool("write_file", code), "See take.ts."]),
};
const reviewer = {
  name: "reviewer",
  description: "Checks code against the notes. Changes nothing.",
  systemPrompt: "Compare the code with the notes. Report what is wrong, with paths.",
  tools: [],
  permissions: [{ operations: ["write"], paths: ["/**"], mode: "deny" }] as const,
  model: modelOrScript([callTool("read_file", { file_path: code.file_path }), "Stacks are missing."]),
};

const rootDir = mkdtempSync(join(tmpdir(), "deepwright-team-"));
const disk = new FilesystemBackend({ rootDir, virtualMode: true });
const agent = createDeepAgent({
  name: "coordinator",
  systemPrompt: "Hand research to researcher (topics at the same time), code to coder, checks to reviewer.",
  subagents: [researcher, coder, reviewer],
  backend: new CompositeBackend(new StateBackend(), { "/research/": disk }),
  model: modelOrScript([
    handOut(["researcher", "Notes about queues."], ["researcher", "Notes about stacks."]),
    handOut(["coder", "From the notes in /research write take.ts."]),
    handOut(["reviewer", "Check /research/take.ts."]),
    "The code is there; the reviewer wants stacks in it too.",
  ]),
});

const stream = await agent.stream(
  { messages: [{ role: "user", content: "Compare queues and stacks, write take.ts, have it checked." }] },
  { version: "v2", streamMode: "messages", subgraphs: true },
);
for await (const { data } of stream) {
  const [message, { lc_agent_name: name }] = data as [any, { lc_agent_name: string }];
  for (const call of message.tool_call_chunks ?? []) if (call.name) console.log(`${name} → ${call.name}`);
  if (message.name === "task") console.log(`${name} ← ${message.text}`);
  if (message.type === "ai" && name === "coordinator") process.stdout.write(message.text);
}
console.log(`\nFiles: ${readdirSync(rootDir).toSorted().join(", ")}`);
rmSync(rootDir, { recursive: true });
