import { AsyncBatchedStore, BaseStore, InMemoryStore, type Operation } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";
import type { BackendProtocol, FileError } from "../backend.ts";
import { resolveBackend } from "../resolve.ts";
import { StoreBackend, type StoreBackendOptions } from "./store.ts";

const times = { created_at: "2025-01-01T00:00:00.000Z", modified_at: "2025-01-01T00:00:00.000Z" };
const paths = async (backend: BackendProtocol) => (await backend.glob("**")).files?.map(({ path }) => path);

/** A store that can only do what LangGraph asks for, and gives few items at a time. */
class StingyStore extends BaseStore {
  readonly inner = new InMemoryStore();
  searches = 0;

  override batch(operations: Operation[]): any {
    const limited = operations.map((operation) => {
      if (!("namespacePrefix" in operation)) return operation;
      this.searches += 1;
      return { ...operation, limit: Math.min(operation.limit ?? 10, 7) };
    });
    return this.inner.batch(limited);
  }
}

describe("the namespace of StoreBackend", () => {
  it("is exactly its own: namespaces below and beside it are neither seen nor changed", async () => {
    const store = new InMemoryStore();
    const org = new StoreBackend({ store, namespace: ["org"] });
    const alice = new StoreBackend({ store, namespace: ["org", "alice"] });
    const organic = new StoreBackend({ store, namespace: ["organic"] });
    for (const [backend, name] of [
      [org, "org"],
      [alice, "alice"],
      [organic, "organic"],
    ] as const)
      await backend.write(`/${name}.txt`, `text of ${name}`);
    expect(await paths(org)).toEqual(["/org.txt"]);
    expect((await org.grep("text of")).matches).toHaveLength(1);
    expect((await org.ls("/")).files).toHaveLength(1);
    expect(await org.read("/alice.txt")).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await org.delete("/alice.txt")).toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it("finds all files though strangers' items lie between them on every page", async () => {
    const store = new StingyStore();
    for (let index = 0; index < 50; index++) {
      await store.put(["org"], `/file${String(index).padStart(2, "0")}.txt`, { content: "mine", ...times });
      await store.put(["org", `user${index}`], "/other.txt", { content: "theirs", ...times });
    }
    const backend = new StoreBackend({ store, namespace: ["org"] });
    expect(await paths(backend)).toHaveLength(50);
    expect((await backend.grep("mine")).matches).toHaveLength(50);
    expect((await backend.grep("theirs")).matches).toEqual([]);
  });

  it("comes from the run: by assistant, by user, by both, or from the context", async () => {
    const store = new InMemoryStore();
    const runtime = {
      state: { team: "red" },
      store,
      context: { orgId: "acme" },
      serverInfo: { assistantId: "helper", user: { identity: "ada@example.com" } },
    };
    const files = async (backend: StoreBackend) => {
      const bound = await resolveBackend(backend, runtime);
      await bound.write("/note.txt", "x");
      return (await store.listNamespaces({ maxDepth: 5 })).map((namespace) => namespace.join("/"));
    };
    expect(await files(new StoreBackend())).toEqual(["helper/filesystem"]);
    await files(new StoreBackend({ namespace: ({ serverInfo }) => [serverInfo?.user?.identity] }));
    await files(new StoreBackend({ namespace: ({ context, state }) => [context.orgId, state.team] }));
    expect(await files(new StoreBackend({ namespace: ["a", "b"] }))).toEqual([
      "a/b",
      "acme/red",
      "ada@example%2Ecom",
      "helper/filesystem",
    ]);
  });

  it("takes the assistant from where servers and older callers put it", async () => {
    const store = new InMemoryStore();
    const config = { metadata: { assistant_id: "from-metadata" } };
    await new StoreBackend({ state: {}, store, config } as never).write("/a", "1");
    await new StoreBackend({ state: {}, store, assistantId: "older" }).write("/a", "1");
    expect(await store.listNamespaces({})).toEqual([
      ["from-metadata", "filesystem"],
      ["older", "filesystem"],
    ]);
  });

  it("is made from what is known of the run, and nothing else", async () => {
    const seen: unknown[] = [];
    const namespace: StoreBackendOptions["namespace"] = ({ config, serverInfo }) => {
      seen.push({ config, serverInfo });
      return ["a"];
    };
    const configurable = { langgraph_auth_user_id: "ada" };
    for (const runtime of [
      {},
      { assistantId: "helper" },
      { config: {} },
      { config: { configurable } },
      { config: { metadata: "text" } },
    ])
      await (
        await resolveBackend(new StoreBackend({ namespace }), {
          ...{ state: {}, store: new InMemoryStore() },
          ...(runtime as object),
        })
      ).ls("/");
    expect(seen).toStrictEqual([
      { config: undefined, serverInfo: undefined },
      { config: undefined, serverInfo: { assistantId: "helper", user: undefined } },
      { config: { metadata: undefined, configurable: undefined }, serverInfo: undefined },
      {
        config: { metadata: undefined, configurable },
        serverInfo: { assistantId: undefined, user: { identity: "ada" } },
      },
      { config: { metadata: undefined, configurable: undefined }, serverInfo: undefined },
    ]);
  });

  it.each([
    ["an error", new Error("no user")],
    ["text", "no user"],
  ])("that cannot be made says why: %s was thrown", async (_, thrown) => {
    const namespace = (): string[] => {
      throw thrown;
    };
    const backend = new StoreBackend({ store: new InMemoryStore(), namespace });
    await expect(backend.ls("/")).rejects.toMatchObject({
      code: "INVALID_NAMESPACE",
      message: "The namespace of StoreBackend failed: no user.",
    });
  });

  it("begins with the tenant where a server tells its users apart", async () => {
    const store = new InMemoryStore();
    const serverInfo = { assistantId: "helper", user: { identity: "ada@x.org" }, tenant: "ada@x%2Eorg" };
    const bound = await resolveBackend(new StoreBackend(), { state: {}, store, serverInfo });
    await bound.write("/a", "1");
    expect(await store.listNamespaces({})).toEqual([["ada@x%2Eorg", "helper", "filesystem"]]);
  });

  it("is `filesystem` alone where no server names an assistant", async () => {
    const store = new InMemoryStore();
    await new StoreBackend({ store }).write("/a", "1");
    expect((await store.get(["filesystem"], "/a"))?.value.content).toBe("1");
  });

  it.each<[string, StoreBackendOptions]>([
    ["a part is undefined", { namespace: () => ["org", undefined] }],
    ["a part is empty", { namespace: () => ["org", ""] }],
    ["a part is a number", { namespace: () => ["org", 7 as never] }],
    ["a part has a wildcard", { namespace: () => ["*"] }],
    ["there are no parts", { namespace: () => [] }],
    ["it is no list", { namespace: () => "org" as never }],
    ["the function fails", { namespace: ({ serverInfo }) => [(serverInfo as any).user.identity] }],
  ])("is a typed error, never a shared one, when %s", async (_case, options) => {
    const backend = new StoreBackend({ store: new InMemoryStore(), ...options });
    await expect(backend.write("/a", "1")).rejects.toMatchObject({ code: "INVALID_NAMESPACE" });
    await expect(backend.ls("/")).rejects.toMatchObject({ code: "INVALID_NAMESPACE" });
  });

  it("is checked at once when it is a list", () => {
    const make = (namespace: unknown) => () => new StoreBackend({ namespace: namespace as string[] });
    expect(make(["a b"])).toThrow(
      expect.objectContaining({ name: "ConfigurationError", code: "INVALID_NAMESPACE" }),
    );
    expect(make([])).toThrow(/no parts/);
    expect(make(["a", "b-_.@+:~9"])).not.toThrow();
    expect(() => new StoreBackend({ namespaces: [] } as never)).toThrow(/no option 'namespaces'/);
  });

  it("is refused where the store itself would mix it up with another", async () => {
    const store = new InMemoryStore();
    await new StoreBackend({ store, namespace: ["org:alice"] }).write("/secret.txt", "hers");
    const other = new StoreBackend({ store, namespace: ["org", "alice"] });
    await expect(other.read("/secret.txt")).rejects.toMatchObject({ code: "INVALID_NAMESPACE" });
    expect(await paths(other)).toEqual([]);
  });
});

describe("StoreBackend", () => {
  it("says that it has no store", async () => {
    await expect(new StoreBackend({ namespace: ["a"] }).ls("/")).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining("no store"),
    });
  });

  it("prefers its own store to that of the run, and sees through the wrapper of a run", async () => {
    const own = new InMemoryStore();
    const backend = await resolveBackend(new StoreBackend({ store: own, namespace: ["a"] }), {
      state: {},
      store: new InMemoryStore(),
    });
    await backend.write("/own.txt", "x");
    expect(await own.get(["a"], "/own.txt")).not.toBeNull();
    const wrapped = new StoreBackend({ store: new AsyncBatchedStore(own), namespace: ["a"] });
    expect(await paths(wrapped)).toEqual(["/own.txt"]);
  });

  it("serves an agent with the store the agent was given, across threads", async () => {
    const store = new InMemoryStore();
    const agent = createDeepAgent({
      model: scriptedModel([
        callTool("write_file", { file_path: "/memo.md", content: "remember" }),
        say("done"),
        callTool("read_file", { file_path: "/memo.md" }),
        say("done"),
      ]),
      backend: new StoreBackend({ namespace: ["agent"] }),
      store,
    });
    await agent.invoke({ messages: [{ role: "user", content: "write" }] });
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: "read" }] });
    expect(messages.some((message) => message.text.includes("remember"))).toBe(true);
    expect(await store.get(["agent"], "/memo.md")).toMatchObject({ value: { content: "remember" } });
  });

  it("reads what others have stored: lines, bytes, and bytes that went through JSON", async () => {
    const store = new InMemoryStore();
    const bytes = new Uint8Array([137, 80, 78, 71, 0, 255]);
    await store.put(["a"], "/lines.txt", { content: ["one", "two"], ...times });
    await store.put(["a"], "/text.txt", { content: "one\ntwo", ...times });
    await store.put(["a"], "/bytes.png", { content: bytes, mimeType: "image/png", ...times });
    await store.put(["a"], "/json.png", {
      content: JSON.parse(JSON.stringify(bytes)),
      mimeType: "image/png",
      ...times,
    });
    const backend = new StoreBackend({ store, namespace: ["a"] });
    expect(await backend.read("/lines.txt")).toMatchObject({ content: "one\ntwo", totalLines: 2 });
    expect(await backend.edit("/lines.txt", "two", "three")).toMatchObject({ occurrences: 1 });
    expect(await backend.read("/lines.txt")).toMatchObject({ content: "one\nthree" });
    const downloads = await backend.downloadFiles(["/bytes.png", "/json.png", "/text.txt"]);
    expect(downloads.map(({ content }) => content?.length)).toEqual([6, 6, 7]);
    expect(downloads[1]?.content).toEqual(bytes);
  });

  it("keeps bytes in any store that speaks JSON", async () => {
    const store = new InMemoryStore();
    const backend = new StoreBackend({ store, namespace: ["a"] });
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    await backend.uploadFiles([["/all.bin", bytes]]);
    const value = (await store.get(["a"], "/all.bin"))?.value;
    await store.put(["a"], "/again.bin", JSON.parse(JSON.stringify(value)));
    expect((await backend.downloadFiles(["/again.bin"]))[0]?.content).toEqual(bytes);
  });

  it("keeps bytes as bytes in memory, and as base64 in a store of JSON", async () => {
    const jsonStore = new (class extends BaseStore {
      readonly kept = new InMemoryStore();
      async batch(operations: never): Promise<never> {
        return (await this.kept.batch(JSON.parse(JSON.stringify(operations)))) as never;
      }
    })();
    const bytes = Uint8Array.of(0, 255, 1);
    for (const [store, content] of [
      [new InMemoryStore(), bytes],
      [jsonStore, "AP8B"],
    ] as const) {
      const backend = new StoreBackend({ store, namespace: ["a"] });
      await backend.uploadFiles([["/a.bin", bytes]]);
      await backend.write("/b.png", "AP8B");
      for (const path of ["/a.bin", "/b.png"]) {
        expect((await store.get(["a"], path))?.value.content).toEqual(content);
        expect(await backend.readRaw(path)).toMatchObject({ data: { content: bytes } });
        expect(await backend.read(path)).toMatchObject({ content: bytes });
      }
    }
  });

  it("writes lines for older readers when told to", async () => {
    const store = new InMemoryStore();
    const backend = new StoreBackend({ store, namespace: ["a"], fileFormat: "v1" });
    await backend.write("/a.txt", "one\ntwo\n");
    expect((await store.get(["a"], "/a.txt"))?.value.content).toEqual(["one", "two", ""]);
    expect(await backend.read("/a.txt")).toMatchObject({ content: "one\ntwo\n", totalLines: 2 });
    expect(await backend.readRaw("/a.txt")).toMatchObject({ data: { content: ["one", "two", ""] } });
    await backend.write("/a.json", "{\n}");
    expect((await store.get(["a"], "/a.json"))?.value.content).toEqual(["{", "}"]);
  });

  it("reports items that are no files and leaves them alone", async () => {
    const store = new InMemoryStore();
    await store.put(["a"], "/config", { theme: "dark" });
    await store.put(["a"], "profile", { name: "Ada" });
    const backend = new StoreBackend({ store, namespace: ["a"] });
    await backend.write("/file.txt", "theme");
    expect(await backend.ls("/")).toMatchObject({
      files: [{ path: "/file.txt" }],
      skipped: [{ path: "/config", code: "UNAVAILABLE" }],
    });
    expect(await backend.grep("theme")).toMatchObject({ matches: [{}], skipped: [{ path: "/config" }] });
    expect(await backend.write("/config", "mine")).toMatchObject({ code: "UNAVAILABLE" });
    expect((await store.get(["a"], "/config"))?.value).toEqual({ theme: "dark" });
  });

  it("lets one of many creators succeed and all edits land, whichever instance they go through", async () => {
    const store = new StingyStore();
    const backends = [1, 2, 3].map(() => new StoreBackend({ store, namespace: ["a"] }));
    const one = (index: number) => backends[index % 3] as StoreBackend;
    const created = await Promise.all(Array.from({ length: 12 }, (_, n) => one(n).write("/new.txt", `${n}`)));
    expect(created.filter(({ error }) => error === undefined)).toHaveLength(1);
    expect(created.find((result): result is FileError => result.error !== undefined)?.code).toBe(
      "FILE_EXISTS",
    );
    const lines = Array.from({ length: 12 }, (_, n) => `line ${n};`);
    await one(0).write("/edited.txt", lines.join("\n"));
    await Promise.all(lines.map((line, n) => one(n).edit("/edited.txt", line, line.toUpperCase())));
    expect((await one(0).read("/edited.txt")).content).toBe(lines.join("\n").toUpperCase());
  });

  it("reads a store that cannot list keys once, not for every new file", async () => {
    const store = new StingyStore();
    const backend = new StoreBackend({ store, namespace: ["a"] });
    await backend.write("/dir/file.txt", "x");
    const before = store.searches;
    for (let index = 0; index < 20; index++) await backend.write(`/dir/more${index}.txt`, "x");
    expect(store.searches).toBe(before);
    expect(await backend.write("/dir", "x")).toMatchObject({ code: "IS_DIRECTORY" });
    await backend.delete("/dir");
    expect(await backend.write("/dir", "x")).toMatchObject({ path: "/dir" });
  });

  it("FS-09, FS-12, FS-15, FS-22: keys are canonical paths, and names are only names", async () => {
    const store = new InMemoryStore();
    const backend = new StoreBackend({ store, namespace: ["a"] });
    expect(await backend.write("/ok.txt\0.png", "x")).toMatchObject({ code: "INVALID_PATH" });
    await backend.write("//a/./b.txt/", "x");
    expect(await store.get(["a"], "/a/b.txt")).not.toBeNull();
    for (const name of ["/__proto__", "/constructor", "/toString"]) {
      expect(await backend.read(name)).toEqual({ error: `File '${name}' not found`, code: "FILE_NOT_FOUND" });
      await backend.write(name, "x");
      expect(await backend.edit(name, "x", "$& $1")).toMatchObject({ occurrences: 1 });
      expect(await backend.read(name)).toMatchObject({ content: "$& $1" });
      expect(await backend.delete(name)).toMatchObject({ path: name });
    }
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it("remembers the directories of some namespaces, not of all there ever were", async () => {
    const store = new StingyStore();
    const userFiles = (user: number) => new StoreBackend({ store, namespace: [`user${user}`] });
    const searchesOf = async (user: number) => {
      const before = store.searches;
      await userFiles(user).write(`/file${before}`, "x");
      return store.searches - before;
    };
    for (let user = 0; user <= 1000; user += 1) await searchesOf(user);
    expect(await searchesOf(1000)).toBe(0);
    expect(await searchesOf(0)).toBeGreaterThan(0);
  });

  it("stores nothing once it was stopped", async () => {
    const store = new InMemoryStore();
    const backend = new StoreBackend({ store, namespace: ["a"] });
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(backend.write("/a", "x", { signal })).rejects.toThrow("stopped");
    await expect(backend.grep("x", "/", null, null, { signal })).rejects.toThrow("stopped");
    expect(await store.get(["a"], "/a")).toBeNull();
  });
});
