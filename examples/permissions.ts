/**
 * What an agent may read and write: four usual sets of rules, why a path is open or closed, and an auditor whose own
 * rules take the place of the agent's.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/permissions.ts
 */
import {
  createDeepAgent,
  explainPermission,
  type FilesystemPermission,
  permissionWarnings,
} from "deepwright";
import { callTool } from "deepwright/testing";
import { modelOrScript } from "./support/model.ts";

type Operations = FilesystemPermission["operations"];
const both: Operations = ["read", "write"];
const allow = (operations: Operations, ...paths: string[]) => ({ operations, paths, mode: "allow" }) as const;
const deny = (operations: Operations, ...paths: string[]) => ({ operations, paths, mode: "deny" }) as const;

const readOnly = [deny(["write"], "/**")];
const workspaceOnly = [allow(both, "/workspace/**"), deny(both, "/**")];
const secretsApart = [deny(both, "/workspace/.env"), allow(both, "/workspace/**"), deny(both, "/**")];
const sharedMemory = [deny(["write"], "/memories/**", "/policies/**")];
const auditor = [deny(["write"], "/**"), allow(["read"], "/workspace/**"), deny(["read"], "/**")];

const paths = ["/workspace/app.ts", "/workspace/.env", "/memories/AGENTS.md", "/etc/passwd"];
for (const [name, rules] of Object.entries({
  readOnly,
  workspaceOnly,
  secretsApart,
  sharedMemory,
  auditor,
})) {
  const isAllowed = (path: string) => (operation: (typeof both)[number]) =>
    explainPermission(rules, path, operation).mode === "allow" ? operation[0] : "-";
  console.log(`${name}: ${paths.map((path) => `${both.map(isAllowed(path)).join("")} ${path}`).join(", ")}`);
}

// The first rule that fits decides: in this order the second one never does.
const wrongOrder = [allow(both, "/workspace/**"), deny(both, "/workspace/.env")];
console.log("warning:", permissionWarnings(wrongOrder)[0]?.message);

const file = { file_path: "/workspace/app.ts" };
const agent = createDeepAgent({
  permissions: secretsApart,
  subagents: [
    {
      name: "auditor",
      description: "Reviews code. Changes nothing.",
      systemPrompt: "Review the code for mistakes.",
      permissions: auditor,
      model: modelOrScript(({ messages }) => {
        const edit = callTool("edit_file", { ...file, old_string: "1", new_string: "2" });
        const last = `It should be 2. I cannot mend it: ${messages.at(-1)?.text}`;
        return (
          [callTool("read_file", file), edit][messages.filter(({ type }) => type === "ai").length] ?? last
        );
      }),
    },
  ],
  model: modelOrScript([
    callTool("write_file", { ...file, content: "export const two = 1;\n" }),
    callTool("read_file", { file_path: "/workspace/.env" }),
    callTool("ls", { path: "/workspace" }),
    callTool("task", { subagent_type: "auditor", description: "Review /workspace/app.ts." }),
    "Written and reviewed.",
  ]),
});
console.log("why:", agent.explain("/workspace/.env", "write").reason);

const now = new Date().toISOString();
const { messages } = await agent.invoke({
  messages: [
    { role: "user", content: "Write /workspace/app.ts, look into .env, and have the code reviewed." },
  ],
  files: { "/workspace/.env": { content: "KEY=1", created_at: now, modified_at: now } },
});
for (const { type, name, text } of messages) if (type === "tool") console.log(`${name}: ${text}`);
