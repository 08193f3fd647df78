/** Permission rules for the agent and for its subagents. */
import { createDeepAgent, FilesystemBackend, type FilesystemPermission } from "library";
import { results } from "../../kit/look.ts";
import { fill, scratch } from "../../kit/scratch.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const rules: FilesystemPermission[] = [
  { operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" },
  { operations: ["write"], paths: ["/docs/**"], mode: "deny" },
];

export default async function program() {
  const rootDir = scratch("permissions");
  fill(rootDir, { "secret/key.txt": "needle key", "docs/a.md": "needle docs", "work/b.md": "needle work" });
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  const child = scripted([call("read_file", { file_path: "/secret/key.txt" }), "child done"]);
  const model = scripted([
    call("read_file", { file_path: "/secret/key.txt" }),
    call("read_file", { file_path: "/docs/a.md" }),
    call("write_file", { file_path: "/docs/new.md", content: "x" }),
    call("edit_file", { file_path: "/docs/a.md", old_string: "docs", new_string: "x" }),
    call("write_file", { file_path: "/work/new.md", content: "x" }),
    call("ls", { path: "/" }),
    call("ls", { path: "/secret" }),
    call("grep", { pattern: "needle", output_mode: "files_with_matches" }),
    call("glob", { pattern: "**/*" }),
    call("delete", { file_path: "/docs/a.md" }),
    call("task", { subagent_type: "reader", description: "Read it." }),
    "done",
  ]);
  const agent = createDeepAgent({
    model,
    backend,
    permissions: rules,
    subagents: [
      {
        name: "reader",
        description: "Reads.",
        systemPrompt: "Read.",
        model: child,
        permissions: [{ operations: ["read"], paths: ["/secret/**"] }],
      },
    ],
  });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  const shows = (tool: string, index: number, text: string) => results(messages, tool)[index]?.includes(text);
  const childRead = child.requests[1]?.messages.find((one) => one.getType() === "tool")?.text;
  return {
    readSecret: shows("read_file", 0, "needle"),
    readDocs: shows("read_file", 1, "needle docs"),
    root: ["secret", "docs", "work"].map((name) => shows("ls", 0, name)),
    listSecret: shows("ls", 1, "key.txt"),
    grep: ["/secret/key.txt", "/docs/a.md", "/work/b.md"].map((path) => shows("grep", 0, path)),
    glob: ["key.txt", "a.md", "b.md"].map((path) => shows("glob", 0, path)),
    child: childRead?.includes("needle key"),
    onDisk: (await backend.glob("**/*", "/")).files
      ?.filter((one) => !one.is_dir)
      .map(({ path }) => path)
      .sort(),
  };
}
