import { describe, expect, it } from "vitest";
import {
  type BackendProtocol,
  CompositeBackend,
  createDeepAgent,
  MapBackend,
  PolicyBackend,
  previewBackend,
} from "../../index.ts";
import { callTool, scriptedModel } from "../../testing/index.ts";

/** The results of a backend with every field it might have, `null` where there is nothing to say. */
class NullBackend extends MapBackend {
  readonly #private = "/a.md";

  override async ls(path: string) {
    return withNulls(await super.ls(path), "files", "skipped");
  }
  override async read(path: string, offset?: number, limit?: number) {
    return withNulls(await super.read(path, offset, limit), "totalLines", "nextOffset", "size");
  }
  override async readRaw(path: string) {
    return withNulls(await super.readRaw(path), "data");
  }
  override async write(path: string, content: string) {
    return withNulls(await super.write(path, content), "path", "filesUpdate");
  }
  override async edit(path: string, old: string, now: string, all?: boolean) {
    return withNulls(await super.edit(path, old, now, all), "path", "filesUpdate", "occurrences");
  }
  override async delete(path: string) {
    return withNulls(await super.delete(path), "path", "filesUpdate");
  }
  override async grep(pattern: string, path?: string | null) {
    return withNulls(await super.grep(pattern, path), "matches", "truncated");
  }
  override async glob(pattern: string, path?: string) {
    return withNulls(await super.glob(pattern, path), "files", "truncated");
  }
  get first(): string {
    return this.#private;
  }
}

function withNulls<Result extends object>(result: Result, ...names: string[]): Result {
  const nothing = Object.fromEntries(["error", ...names].map((name) => [name, null]));
  const { code: _code, ...rest } = result as Result & { code?: string };
  return { ...nothing, ...rest } as Result;
}

/** As a program that has no class for it writes a backend. */
function objectOf(backend: BackendProtocol): BackendProtocol {
  const { ls, read, readRaw, write, edit, grep, glob } = backend;
  const remove = backend.delete as NonNullable<BackendProtocol["delete"]>;
  const methods = { ls, read, readRaw, write, edit, grep, glob, delete: remove };
  return Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [name, (method as () => unknown).bind(backend)]),
  ) as unknown as BackendProtocol;
}

const newBackend = () => new NullBackend({ "/a.md": "one", "/b.md": "two" });

async function answersOf(backend: BackendProtocol, options: object = {}): Promise<[string, string][]> {
  const calls = [
    callTool("ls", { path: "/" }),
    callTool("read_file", { file_path: "/a.md" }),
    callTool("write_file", { file_path: "/c.md", content: "three" }),
    callTool("edit_file", { file_path: "/a.md", old_string: "one", new_string: "1" }),
    callTool("delete", { file_path: "/b.md" }),
    callTool("grep", { pattern: "three" }),
    callTool("glob", { pattern: "*.md" }),
    callTool("read_file", { file_path: "/none.md" }),
  ];
  const agent = createDeepAgent({ model: scriptedModel([...calls, "done"]), backend, ...options });
  const { messages } = await agent.invoke({ messages: "go" });
  const results = messages.filter((message) => message.getType() === "tool");
  return results.map((message) => [(message as { status?: string }).status ?? "", message.text]);
}

describe("a backend whose results have null where there is nothing", () => {
  it.each<[string, (backend: BackendProtocol) => BackendProtocol, object?]>([
    ["by itself", (backend) => backend],
    ["as a frozen object", (backend) => Object.freeze(objectOf(backend))],
    ["under a policy", (backend) => new PolicyBackend(backend, { denyPrefixes: ["/secret"] })],
    ["in a composite", (backend) => new CompositeBackend(backend, { "/m/": new MapBackend() })],
    ["in a preview", (backend) => previewBackend(backend)],
    [
      "under permissions",
      (backend) => backend,
      { permissions: [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }] },
    ],
  ])("serves every tool, %s", async (_name, wrap, options) => {
    const answers = await answersOf(wrap(newBackend()), options);
    expect(answers.map(([status]) => status)).toEqual([...Array(7).fill("success"), "error"]);
    expect(answers[0]?.[1]).toContain("/a.md");
    expect(answers[1]?.[1]).toContain("one");
    expect(answers[5]?.[1]).toContain("three");
    expect(answers[7]?.[1]).toContain("/none.md");
  });
});

it("a listing that fails without a code is an answer, under permissions too", async () => {
  const backend = newBackend();
  backend.ls = async () => ({ error: "Error: the shelf is locked: permission denied" }) as never;
  const permissions = [{ operations: ["read"], paths: ["/secret/**"], mode: "deny" }];
  for (const options of [{}, { permissions }]) {
    const [ls] = await answersOf(backend, options);
    expect(ls).toEqual(["error", expect.stringContaining("the shelf is locked")]);
  }
});
