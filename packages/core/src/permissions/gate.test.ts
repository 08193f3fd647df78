/** Rules of mode `interrupt`: a person is asked about just those calls, and her word holds for just that call. */
import { Command, MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { approvedConfig } from "../backends/approved-call.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { resolveBackend } from "../backends/resolve.ts";
import { ask, type CallList, callingAgent, onThread, resultsIn } from "./agent-for-tests.ts";
import { FILES, onDisk, rule } from "./backends-for-tests.ts";
import { permissionGate } from "./gate.ts";
import { guardBackend } from "./guard.ts";
import { checkPermissions } from "./rules.ts";

const RULES = [rule("deny", "/secrets/key.txt"), rule("interrupt", "/secrets/**")];

describe("the gate", () => {
  const gate = (backend = new MapBackend(FILES), rules = RULES) =>
    permissionGate(backend, checkPermissions(rules));
  const call = (name: string, args: Record<string, unknown>) => ({ name, args, id: "1" });
  const asks = async (name: string, args: Record<string, unknown>, given = gate()) =>
    (await given?.asks(call(name, args), { state: {}, runtime: {} })) !== undefined;

  it.each<[string, Record<string, unknown>, boolean]>([
    ["read_file", { file_path: "/secrets/pub/readme.md" }, true],
    ["read_file", { path: "secrets//pub/./readme.md" }, true],
    ["read_file", { file_path: null, path: "/secrets/pub/readme.md" }, true],
    ["read_file", { file_path: "", path: "/secrets/pub/readme.md" }, true],
    ["read_file", { file_path: "/notes.md", path: "/secrets/pub/readme.md" }, false],
    ["read_file", { file_path: "/notes.md" }, false],
    ["read_file", { file_path: "/secrets/key.txt" }, false],
    ["read_file", { file_path: "/secrets/../x" }, false],
    ["read_file", {}, false],
    ["write_file", { file_path: "/secrets/new", content: "x" }, true],
    ["edit_file", { file_path: "/secrets/pub/readme.md", old_string: "a", new_string: "b" }, true],
    ["delete", { file_path: "/secrets/pub" }, true],
    ["delete", { file_path: "/secrets" }, false],
    ["delete", { file_path: "/workspace" }, false],
    ["ls", { path: "/secrets" }, true],
    ["ls", {}, false],
    ["ls", { path: "" }, false],
    ["glob", { pattern: "**", path: "/secrets/pub" }, true],
    ["grep", { pattern: "a", file_path: "/secrets/pub" }, true],
    ["grep", { pattern: "a" }, false],
    ["fetch", { file_path: "/secrets/pub/readme.md" }, false],
  ])("%s %j is asked about: %s", async (name, args, expected) => {
    expect(await asks(name, args)).toBe(expected);
  });

  it("watches the file tools whose operation some rule asks about, and is absent where none asks", () => {
    const writes = gate(undefined, [rule("interrupt", "/a", ["write"])]);
    const watched = [
      "ls",
      "read_file",
      "write_file",
      "edit_file",
      "delete",
      "glob",
      "grep",
      "execute",
      "toString",
    ];
    expect(watched.filter((name) => writes?.watches(name))).toEqual(["write_file", "edit_file", "delete"]);
    expect(gate(undefined, [rule("deny", "/a")])).toBeUndefined();
    expect(gate(undefined, [])).toBeUndefined();
  });

  it("asks about a link that leads there", async () => {
    const backend = onDisk({ ...FILES, "/alias": { link: "secrets" } });
    const given = permissionGate(backend, checkPermissions(RULES));
    expect(await asks("read_file", { file_path: "/alias/pub/readme.md" }, given)).toBe(true);
  });

  it("refuses what is denied, whoever approves it", async () => {
    const refused = async (file_path: string) =>
      gate()?.refuses(call("write_file", { file_path }), { state: {}, runtime: {} });
    expect(await refused("/secrets/key.txt")).toBe("permission denied for write on /secrets/key.txt");
    expect(await refused("/secrets/other")).toBeUndefined();
  });
});

describe("the guard", () => {
  it("lets an approved call do what needs approval, and nothing that is denied", async () => {
    const config = approvedConfig({}, "1");
    const backend = await resolveBackend(guardBackend(new MapBackend(FILES), RULES), { state: {}, config });
    expect(await backend.read("/secrets/pub/readme.md")).toMatchObject({ content: "needle in public" });
    expect(await backend.read("/secrets/key.txt")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(JSON.stringify(await backend.grep("needle", "/"))).toContain("needle in public");
  });

  it("refuses without one", async () => {
    const backend = await resolveBackend(guardBackend(new MapBackend(FILES), RULES), {
      state: {},
      config: {},
    });
    expect(await backend.write("/secrets/x", "")).toEqual({
      error: "Error: a person has to approve write on /secrets/x",
      code: "APPROVAL_REQUIRED",
    });
  });
});

describe("an agent", () => {
  const CALLS: CallList = [["write_file", { file_path: "/secrets/new", content: "x" }]];
  const waiting = async (calls = CALLS) => {
    const backend = new MapBackend(FILES);
    const { agent } = callingAgent(calls, { backend, permissions: RULES, checkpointer: new MemorySaver() });
    const state = await agent.invoke(ask(), onThread("t"));
    const resume = async (...decisions: object[]) =>
      resultsIn((await agent.invoke(new Command({ resume: { decisions } }), onThread("t"))).messages);
    return { backend, state, resume };
  };

  it("waits for a person, and does it when she approves", async () => {
    const { backend, state, resume } = await waiting();
    expect(state.__interrupt__?.[0]?.value).toMatchObject({
      actionRequests: [{ name: "write_file", description: expect.stringContaining("/secrets/new") }],
    });
    expect(await backend.read("/secrets/new")).toMatchObject({ code: "FILE_NOT_FOUND" });
    await resume({ type: "approve" });
    expect(await backend.read("/secrets/new")).toMatchObject({ content: "x" });
  });

  it("does not do it when she rejects", async () => {
    const { backend, resume } = await waiting();
    expect((await resume({ type: "reject" }))[0]?.status).toBe("error");
    expect(await backend.read("/secrets/new")).toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it("does not do what is denied when she edits it so", async () => {
    const { backend, resume } = await waiting();
    const args = { file_path: "/secrets/key.txt", content: "x" };
    await resume({ type: "edit", editedAction: { name: "write_file", args } });
    expect(await backend.read("/secrets/key.txt")).toMatchObject({ content: FILES["/secrets/key.txt"] });
  });

  it("asks again about the next call", async () => {
    const calls: CallList = [...CALLS, ["write_file", { file_path: "/secrets/newer", content: "x" }]];
    const { backend, resume } = await waiting(calls);
    await resume({ type: "approve" });
    expect(await backend.read("/secrets/newer")).toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it("is not stopped by calls that need no approval, nor needs a checkpointer for rules that only deny", async () => {
    const { agent } = callingAgent([["read_file", { file_path: "/notes.md" }]], {
      backend: new MapBackend(FILES),
      permissions: [rule("deny", "/secrets/**")],
    });
    expect((await agent.invoke(ask())).messages.at(-1)?.text).toBe("done");
  });
});
