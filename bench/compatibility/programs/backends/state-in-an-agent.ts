/** An agent that works on files in its state. */
import { createDeepAgent } from "library";
import { outline, results, withoutDates } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const date = "2026-01-01T00:00:00.000Z";

export default async function program() {
  const model = scripted([
    call("write_file", { file_path: "/plan.md", content: "one\ntwo\n" }),
    call("edit_file", { file_path: "/plan.md", old_string: "two", new_string: "three" }),
    call("read_file", { file_path: "/plan.md" }),
    call("read_file", { file_path: "/given.txt", offset: 1, limit: 1 }),
    call("ls", { path: "/" }),
    call("glob", { pattern: "**/*.md" }),
    call("grep", { pattern: "three", output_mode: "content" }),
    call("grep", { pattern: "three", output_mode: "files_with_matches" }),
    call("grep", { pattern: "e", output_mode: "count" }),
    call("delete", { file_path: "/given.txt" }),
    "finished",
  ]);
  const agent = createDeepAgent({ model });
  const given = { content: ["first", "second", "third"], created_at: date, modified_at: date };
  const result = await agent.invoke({
    messages: [{ role: "user", content: "go" }],
    files: { "/given.txt": given },
  });
  const read = results(result.messages, "read_file");
  return withoutDates({
    outline: outline(result.messages),
    files: result.files,
    readShowsEdit: read[0]?.includes("three") === true && !read[0].includes("two"),
    pageShowsOnlySecond: read[1]?.includes("second") === true && !/first|third/.test(read[1]),
    ls: ["plan.md", "given.txt"].map((name) => results(result.messages, "ls")[0]?.includes(name)),
    glob: results(result.messages, "glob")[0]?.includes("/plan.md"),
    grep: results(result.messages, "grep").map((text) => [text.includes("/plan.md"), text.includes("three")]),
  });
}
