/** A backend written from the protocol's declaration, used by an agent. */
import {
  type BackendProtocolV2,
  createDeepAgent,
  type EditResult,
  type GlobResult,
  type GrepResult,
  type LsResult,
  type ReadRawResult,
  type ReadResult,
  type WriteResult,
} from "library";
import { outline, results } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

class Shelf implements BackendProtocolV2 {
  readonly files = new Map<string, string>([["/a.txt", "alpha"]]);
  ls(_path: string): LsResult {
    return { files: [...this.files.keys()].map((path) => ({ path })) };
  }
  read(filePath: string): ReadResult {
    const content = this.files.get(filePath);
    return content === undefined ? { error: `no ${filePath} on the shelf` } : { content };
  }
  readRaw(filePath: string): ReadRawResult {
    const content = this.files.get(filePath);
    if (content === undefined) return { error: "nothing" };
    return { data: { content, mimeType: "text/plain", created_at: "", modified_at: "" } };
  }
  write(filePath: string, content: string): WriteResult {
    if (filePath === "/locked.txt") return { error: "the shelf is locked" };
    this.files.set(filePath, content);
    return { path: filePath, filesUpdate: null, metadata: { shelf: 7 } };
  }
  edit(filePath: string, oldString: string, newString: string): EditResult {
    this.files.set(filePath, (this.files.get(filePath) ?? "").replaceAll(oldString, newString));
    return { path: filePath, filesUpdate: null, occurrences: 1 };
  }
  grep(pattern: string): GrepResult {
    return { matches: [{ path: "/a.txt", line: 1, text: `${pattern} found` }] };
  }
  glob(_pattern: string): GlobResult {
    return { files: [{ path: "/a.txt" }] };
  }
}

export default async function program() {
  const shelf = new Shelf();
  const model = scripted([
    call("ls", { path: "/" }),
    call("read_file", { file_path: "/a.txt" }),
    call("read_file", { file_path: "/none.txt" }),
    call("write_file", { file_path: "/b.txt", content: "b" }),
    call("write_file", { file_path: "/locked.txt", content: "b" }),
    call("edit_file", { file_path: "/a.txt", old_string: "alpha", new_string: "omega" }),
    call("grep", { pattern: "xyz", output_mode: "content" }),
    call("glob", { pattern: "*.txt" }),
    "done",
  ]);
  const result = await createDeepAgent({ model, backend: shelf }).invoke({
    messages: [{ role: "user", content: "go" }],
  });
  const written = result.messages.find((one) => one.getType() === "tool" && one.name === "write_file");
  const text = (tool: string, index = 0) => results(result.messages, tool)[index] ?? "";
  return {
    tools: model.requests[0]?.tools.map((tool) => tool.name).filter((name) => name !== "write_todos"),
    outline: outline(result.messages),
    shelf: [...shelf.files],
    read: [text("read_file").includes("alpha"), text("read_file", 1).includes("no /none.txt on the shelf")],
    locked: text("write_file", 1).includes("the shelf is locked"),
    grep: text("grep").includes("xyz found"),
    metadata: written && "metadata" in written ? (written.metadata as { shelf?: number })?.shelf : null,
  };
}
