/** The sandbox suite on `adaptSandboxProtocol(sandbox)`, decorated as the tests of other sandboxes do it. */
import { describe, expect, it, test } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { sandboxSuite } from "../../testing/index.ts";
import { adaptBackendProtocol, adaptSandboxProtocol } from "../adapt/adapt-protocol.ts";
import type { ExecuteOptions, ExecuteResponse } from "../backend.ts";
import { MapBackend } from "../file-map/map-backend.ts";
import { LocalShellBackend } from "../shell/local-shell.ts";
import { LocalSandbox, openLocalSandbox } from "./local-sandbox-for-tests.ts";

/** Commands as `LocalShellBackend` runs them. */
class ShellSandbox extends LocalSandbox {
  readonly #shell = new LocalShellBackend({ rootDir: this.root });

  override execute(command: string, options?: ExecuteOptions): Promise<ExecuteResponse> {
    return this.#shell.execute(command, options);
  }
}

/** A new wrapper with members of its own. */
function decorated(inner: LocalSandbox) {
  let running = true;
  return Object.assign(adaptSandboxProtocol(inner), {
    isRunning: () => running,
    close: async () => {
      running = false;
      inner.close();
    },
  });
}

sandboxSuite(
  { describe, test: test.concurrent },
  {
    name: "a decorated wrapper around a sandbox with a real shell",
    open: () => {
      const inner = new ShellSandbox();
      const backend = decorated(inner);
      return { backend, root: inner.root, close: backend.close };
    },
    size: sized("small", "full"),
  },
);

describe("an adapted backend", () => {
  it("is a fresh wrapper, and what is added to it stays on it", async () => {
    const inner = openLocalSandbox();
    const wrapper = decorated(inner);
    expect(wrapper).not.toBe(inner);
    expect(adaptSandboxProtocol(inner)).not.toBe(adaptSandboxProtocol(inner));
    expect(wrapper.isRunning()).toBe(true);
    expect(inner).not.toHaveProperty("isRunning");
    expect({ ...wrapper }.id).toBe("local");
    Object.assign(wrapper, { id: "mine", ls: () => ({ files: [] }) });
    expect([wrapper.id, inner.id]).toEqual(["mine", "local"]);
    expect(await wrapper.ls("/")).toEqual({ files: [] });
    expect((await inner.ls("/")).files).not.toEqual([]);
  });

  it("keeps the methods of a backend that has no commands", async () => {
    const inner = new MapBackend({ "/a.txt": "one" });
    const wrapper = adaptBackendProtocol(inner);
    expect(wrapper).not.toBe(inner);
    expect(await wrapper.edit("/a.txt", "one", "two")).toMatchObject({ occurrences: 1 });
    expect(await inner.read("/a.txt")).toMatchObject({ content: "two" });
    expect("execute" in wrapper).toBe(false);
  });
});
