import { InMemoryStore, StateGraph, StateSchema } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { PolicyBackend } from "../../permissions/policy/policy.ts";
import { OlderMapBackend } from "../adapt/older-backend-for-tests.ts";
import type { BackendProtocol, BackendRuntime } from "../backend.ts";
import { MapBackend } from "../file-map/map-backend.ts";
import { previewBackend } from "../preview/preview.ts";
import { isBackendClass, isMadeForRun, mayExecute, mayUseState, resolveBackend } from "../resolve.ts";
import { filesValue } from "../state/files-value.ts";
import { StateBackend } from "../state/state.ts";
import { StoreBackend } from "../store/store.ts";
import { CompositeBackend } from "./composite.ts";

class CommandBackend extends MapBackend {
  readonly id = "commands";
  readonly workingDirectory = "/work";

  async execute(command: string) {
    return { output: `ran ${command}`, exitCode: 0, truncated: false };
  }
}

const names = (result: { files?: readonly { path: string }[] }) => result.files?.map(({ path }) => path);

describe("the backends of a CompositeBackend", () => {
  const runtime = (files = {}): BackendRuntime => ({ state: { files }, store: new InMemoryStore() });

  it("may be factories and classes, asked once for each task; async ones too", async () => {
    let made = 0;
    const backend = new CompositeBackend(
      () => {
        made += 1;
        return new CommandBackend();
      },
      {
        "/memories/": (given) => new StoreBackend(given as never, { namespace: ["m"] }),
        "/later/": async () => new MapBackend({ "/a": "later" }),
        "/class/": StateBackend,
        "/old/": () => new OlderMapBackend({ "/o": "older" }),
      },
    );
    await expect(backend.ls("/")).rejects.toMatchObject({ code: "INVALID_INPUT" });
    const bound = (await resolveBackend(backend, runtime())) as CompositeBackend;
    expect(made).toBe(1);
    await bound.write("/memories/x", "1");
    await bound.write("/y", "2");
    expect(names(await bound.glob("**"))).toEqual(["/later/a", "/memories/x", "/old/o", "/y"]);
    expect(made).toBe(1);
    expect(bound.execute).toBeTypeOf("function");
    expect(await bound.execute?.("pwd")).toMatchObject({ output: "ran pwd" });
  });

  it("fail only those who use them when they cannot be made", async () => {
    const backend = new CompositeBackend(new MapBackend({ "/a": "x" }), {
      "/bad/": () => {
        throw new Error("no credentials");
      },
    });
    const bound = await resolveBackend(backend, runtime());
    expect(await bound.read("/a")).toMatchObject({ content: "x" });
    await expect(bound.read("/bad/x")).rejects.toThrow("no credentials");
    await expect(bound.glob("**")).rejects.toThrow("no credentials");
  });

  it("say before a task whether there may be commands, or files in the state", () => {
    const factory = () => new MapBackend();
    expect(mayExecute(new CompositeBackend(factory, {}))).toBe(true);
    expect(mayExecute(new CompositeBackend(new MapBackend(), { "/m/": CommandBackend as never }))).toBe(
      false,
    );
    expect(mayExecute(CommandBackend as never)).toBe(true);
    expect(isBackendClass(MapBackend as never)).toBe(true);
    expect(mayUseState(new CompositeBackend(new MapBackend(), { "/s/": new StateBackend() }))).toBe(true);
    expect(mayUseState(new CompositeBackend(new MapBackend(), {}))).toBe(false);
    expect(mayUseState(previewBackend(new PolicyBackend(new StateBackend())))).toBe(true);
    expect(isMadeForRun(new PolicyBackend(new CompositeBackend(factory)))).toBe(true);
    const mixed = new CompositeBackend(new CommandBackend(), { "/m/": factory });
    expect(isMadeForRun(mixed)).toBe(false);
    expect([mixed.id, mixed.workingDirectory]).toEqual(["commands", "/work"]);
  });

  it("a single mounted StateBackend keeps its files without the route", async () => {
    const backend = new CompositeBackend(new MapBackend(), { "/scratch/": new StateBackend() });
    const files = { "/x": { content: "from the state", created_at: "t", modified_at: "t" } };
    const bound = await resolveBackend(backend, runtime(files));
    expect(await bound.read("/scratch/x")).toMatchObject({ content: "from the state" });
    const written = await bound.write("/scratch/y", "new");
    expect(written).toMatchObject({ path: "/scratch/y", filesUpdate: { "/y": { content: "new" } } });
  });

  it("two in the same state do not take each other's files", async () => {
    const backend = new CompositeBackend(new StateBackend(), { "/scratch/": new StateBackend() });
    const written: string[] = [];
    const graph = new StateGraph(new StateSchema({ files: filesValue }))
      .addNode("work", async (state, config) => {
        const bound = await resolveBackend(backend, { state, config });
        await bound.write("/x", "at the root");
        await bound.write("/scratch/x", "in scratch");
        written.push(...(names(await bound.glob("**")) ?? []), String((await bound.read("/x")).content));
        return {};
      })
      .addEdge("__start__", "work")
      .compile();
    const { files } = await graph.invoke({});
    expect(Object.keys(files).sort()).toEqual(["/scratch/x", "/x"]);
    expect(written).toEqual(["/scratch/x", "/x", "at the root"]);
  });

  it("two in the same state are refused where one is wrapped and cannot keep apart", async () => {
    const wrapped: BackendProtocol = new PolicyBackend(new StateBackend());
    expect(() => new CompositeBackend(new StateBackend(), { "/s/": wrapped })).toThrow(/same state/);
  });
});
