/** Backends as other libraries' programs write them: they compile, and an agent works with them. */
import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { PolicyBackend } from "../../permissions/policy/policy.ts";
import { callTool, scriptedModel } from "../../testing/index.ts";
import type {
  BackendProtocol,
  EditResult,
  ExecuteResponse,
  GlobResult,
  GrepResult,
  LsResult,
  ReadRawResult,
  ReadResult,
  WriteResult,
} from "../backend.ts";
import { MapBackend } from "../file-map/map-backend.ts";
import { BaseSandbox } from "../sandbox/base-sandbox.ts";
import { StoreBackend } from "../store/store.ts";
import { readRawFile } from "./raw-file.ts";

/** Six methods, failures without a code, pages with nothing but their text. */
class Shelf implements BackendProtocol {
  readonly files = new Map([["/a.txt", "alpha"]]);
  ls(_path: string): LsResult {
    return { files: [...this.files.keys()].map((path) => ({ path })) };
  }
  read(path: string): ReadResult {
    const content = this.files.get(path);
    return content === undefined ? { error: `File '${path}' not found` } : { content };
  }
  write(path: string, content: string): WriteResult {
    if (path === "/locked.txt") return { error: "the shelf is locked" };
    this.files.set(path, content);
    return { path, filesUpdate: null };
  }
  edit(path: string, before: string, after: string): EditResult {
    this.files.set(path, (this.files.get(path) ?? "").replaceAll(before, after));
    return { path, occurrences: 1 };
  }
  grep(pattern: string): GrepResult {
    return { matches: [{ path: "/a.txt", line: 1, text: pattern }] };
  }
  glob(_pattern: string): GlobResult {
    return { files: [{ path: "/a.txt" }] };
  }
}

class Bytes extends Shelf {
  readRaw(path: string): ReadRawResult {
    const content = new Uint8Array([0, 255, 1]);
    return { data: { content, created_at: path, modified_at: path } };
  }
}

class Rented extends BaseSandbox {
  readonly id = "rented";
  // biome-ignore lint/correctness/noUnusedPrivateClassMembers: its type matters.
  private readonly workingDirectory = { of: "the tenant" };
  uploadFiles(files: readonly (readonly [string, Uint8Array])[]) {
    return files.map(([path]) => ({ path, error: null }));
  }
  downloadFiles(paths: readonly string[]) {
    return paths.map((path) => ({ path, content: null, error: "file_not_found" as const }));
  }
  async execute(_command: string): Promise<ExecuteResponse> {
    return { output: "", exitCode: 0, truncated: false };
  }
}

describe("a backend with the six methods", () => {
  test("serves an agent, with permissions and a policy in front of it", async () => {
    const shelf = new Shelf();
    const rules = [{ operations: ["write"], paths: ["/secret/**"], mode: "deny" }];
    const model = scriptedModel([
      callTool("read_file", { file_path: "/a.txt" }),
      callTool("read_file", { file_path: "/none.txt" }),
      callTool("write_file", { file_path: "/locked.txt", content: "x" }),
      callTool("write_file", { file_path: "/secret/x.txt", content: "x" }),
      callTool("write_file", { file_path: "/b.txt", content: "b" }),
      "done",
    ]);
    const agent = createDeepAgent({ model, backend: new PolicyBackend(shelf), permissions: rules });
    const { messages } = await agent.invoke({ messages: "go" });
    const [read, none, locked, secret, written] = messages.filter(({ type }) => type === "tool");
    expect(read?.text).toContain("alpha");
    expect(none?.text).toContain("not found");
    expect(locked?.text).toContain("the shelf is locked");
    expect(secret?.text).toMatch(/permission/i);
    expect(written).toMatchObject({ status: "success" });
    expect(shelf.files.get("/b.txt")).toBe("b");
  });

  test("has no use for readRaw, whose place other methods take", async () => {
    expect(await readRawFile(new Shelf(), "/a.txt")).toMatchObject({
      data: { content: "alpha", mimeType: "text/plain" },
    });
    expect(await readRawFile(new Shelf(), "/none.txt")).toMatchObject({
      error: expect.stringContaining("not found"),
    });
    const map = new MapBackend({ "/b.txt": "one\ntwo\n" });
    const paged: BackendProtocol = {
      ...new Shelf(),
      ls: map.ls.bind(map),
      write: map.write.bind(map),
      edit: map.edit.bind(map),
      grep: map.grep.bind(map),
      glob: map.glob.bind(map),
      read: (path, offset = 0) => map.read(path, offset, 1),
    };
    expect(await readRawFile(paged, "/b.txt")).toMatchObject({ data: { content: "one\ntwo\n" } });
    expect(
      await readRawFile({ ...paged, downloadFiles: map.downloadFiles.bind(map) }, "/b.txt"),
    ).toMatchObject({ data: { content: "one\ntwo\n" } });
  });
});

test("readRaw may give bytes", async () => {
  const content = new Uint8Array([0, 255, 1]);
  expect(await new PolicyBackend(new Bytes()).readRaw("/a.bin")).toMatchObject({ data: { content } });
});

test("a memory file that a backend misses without a code is no problem", async () => {
  const model = scriptedModel(["done"]);
  await createDeepAgent({ model, backend: new Shelf(), memory: ["/AGENTS.md"] }).invoke({ messages: "go" });
  expect(model.calls[0]?.messages[0]?.text).not.toContain("not found");
});

test("a sandbox may keep something of its own under `workingDirectory`", () => {
  expect(() => createDeepAgent({ model: scriptedModel([]), backend: new Rented() })).not.toThrow();
});

test("a namespace reads the user of the server without looking whether there is one", () => {
  expect(() => new StoreBackend({ namespace: (rt) => [rt.serverInfo.user.identity] })).not.toThrow();
});
