/** Runs the code of docs/subagents.md, so that the guide cannot say what is not so. */
import { readFileSync } from "node:fs";
import { tool } from "@langchain/core/tools";
import { callTool, scriptedModel } from "deepwright/testing";
import { transform } from "esbuild";
import { expect, test } from "vitest";
import { z } from "zod";
import { handOut } from "./support/model.ts";

const guide = readFileSync("docs/subagents.md", "utf8");
const [imports = "", ...blocks] = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code ?? "");

const model = scriptedModel(({ messages }) => {
  const order = messages.find(({ type }) => type === "human")?.text;
  if (order === "Research queues.") return supervise(messages.at(-1)?.text ?? "");
  if (order !== "Compare queues and stacks.") return "Noted.";
  if (messages.some(({ type }) => type === "tool")) return "Compared.";
  return handOut(["researcher", "Notes about queues."], ["researcher", "Notes about stacks."]);
});
function supervise(last: string) {
  if (last === "Research queues.")
    return callTool("start_async_task", { description: "Queues.", subagent_type: "background-researcher" });
  const [, done] = /^\[Background task (\S+) .* is done/.exec(last) ?? [];
  if (done) return callTool("check_async_task", { task_id: done });
  return last.startsWith("Started") ? "It is under way." : (last.split("\n").at(-1) ?? "");
}

const search = tool(async () => "found", { name: "search", description: "Search.", schema: z.object({}) });

test("the code of the guide runs as one program", async () => {
  const lines: string[] = [];
  const print = (...words: unknown[]) => lines.push(words.join(" "));
  const scope: Record<string, unknown> = { model, search, console: { log: print } };
  for (const [, names = "", module = ""] of imports.matchAll(/import \{([^}]*)\} from "(.*?)";/g)) {
    const exports = await import(module);
    for (const name of names.split(",").map((word) => word.trim())) if (name) scope[name] = exports[name];
  }
  const { code } = await transform(`async function guide() {\n${blocks.join("\n")}\n}`, { loader: "ts" });
  await new Function(...Object.keys(scope), `${code}\nreturn guide();`)(...Object.values(scope));
  expect(lines.filter((line) => line.startsWith("researcher:"))).toEqual(Array(2).fill("researcher: Noted."));
  expect(lines).toContain("boss: Compared.");
  expect(lines.filter((line) => line === "level 1 finished model_request")).toHaveLength(2);
  expect(lines).toContain("level 0 finished tools");
  expect(lines.slice(-5)).toEqual([
    "researcher reports: Noted.",
    "researcher reports: Noted.",
    "alone: Noted.",
    "at once: It is under way.",
    "later: Noted.",
  ]);
});
