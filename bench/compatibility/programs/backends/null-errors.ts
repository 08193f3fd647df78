/** A backend that answers `error: null` when nothing went wrong. */
import { type BackendProtocolV2, createDeepAgent } from "library";
import { results } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const files = new Map([["/a.txt", "alpha\nbeta"]]);
const fine = { error: null };
const backend = {
  ls: () => ({ ...fine, files: [{ path: "/a.txt" }] }),
  read: (path: string) => ({ ...fine, content: files.get(path), mimeType: "text/plain" }),
  readRaw: (path: string) => ({
    ...fine,
    data: { content: files.get(path), mimeType: "text/plain", created_at: "", modified_at: "" },
  }),
  write: (path: string, content: string) => {
    files.set(path, content);
    return { ...fine, path, filesUpdate: null };
  },
  edit: (path: string, before: string, after: string) => {
    files.set(path, (files.get(path) ?? "").replace(before, after));
    return { ...fine, path, filesUpdate: null, occurrences: 1 };
  },
  delete: (path: string) => {
    files.delete(path);
    return { ...fine, path, filesUpdate: null };
  },
  grep: () => ({ ...fine, matches: [{ path: "/a.txt", line: 1, text: "alpha" }] }),
  glob: () => ({ ...fine, files: [{ path: "/a.txt" }] }),
} as unknown as BackendProtocolV2;

export default async function program() {
  const model = scripted([
    call("ls", { path: "/" }),
    call("read_file", { file_path: "/a.txt" }),
    call("write_file", { file_path: "/b.txt", content: "b" }),
    call("edit_file", { file_path: "/a.txt", old_string: "beta", new_string: "gamma" }),
    call("grep", { pattern: "alpha", output_mode: "content" }),
    call("glob", { pattern: "*.txt" }),
    call("delete", { file_path: "/b.txt" }),
    "done",
  ]);
  const { messages } = await createDeepAgent({ model, backend }).invoke({
    messages: [{ role: "user", content: "go" }],
  });
  return {
    shows: [
      ["ls", "/a.txt"],
      ["read_file", "alpha"],
      ["grep", "alpha"],
      ["glob", "/a.txt"],
    ].map(([tool = "", text = ""]) => results(messages, tool)[0]?.includes(text)),
    files: [...files],
  };
}
