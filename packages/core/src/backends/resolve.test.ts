import { describe, expect, it } from "vitest";
import type { BackendProtocol, BackendRuntime } from "./backend.ts";
import { resolveBackend } from "./resolve.ts";
import { StateBackend } from "./state/state.ts";

const runtime: BackendRuntime = {
  state: { files: { "/a": { content: "a", created_at: "t", modified_at: "t" } } },
};
const names = async (backend: BackendProtocol): Promise<string[] | undefined> =>
  (await backend.ls("/")).files?.map((file) => file.path);

describe("resolveBackend", () => {
  it.each<[string, Parameters<typeof resolveBackend>[0]]>([
    ["nothing", undefined],
    ["null", null],
    ["an instance", new StateBackend()],
    ["a class", StateBackend],
    ["a factory", (given) => new StateBackend(given)],
    ["a factory that takes its time", async (given) => new StateBackend(given)],
    ["a factory of an unbound instance", () => new StateBackend()],
  ])("makes a backend for the task from %s", async (_name, source) => {
    expect(await names(await resolveBackend(source, runtime))).toEqual(["/a"]);
  });

  it("makes one backend of any other instance, however often it is asked", async () => {
    const backend = Object.freeze({ ls: () => ({ files: [] }) }) as unknown as BackendProtocol;
    const resolved = await resolveBackend(backend, runtime);
    expect(await resolveBackend(backend, runtime)).toBe(resolved);
    expect(await names(resolved)).toEqual([]);
  });

  it("calls a factory written as an ordinary function", async () => {
    function factory(given: BackendRuntime): BackendProtocol {
      return new StateBackend(given);
    }
    expect(await names(await resolveBackend(factory, runtime))).toEqual(["/a"]);
  });
});
