import { describe, expect, it } from "vitest";
import { isSandboxBackend, isSandboxProtocol } from "./is-sandbox.ts";

const execute = () => ({ output: "", exitCode: 0, truncated: false });

describe("isSandboxBackend and isSandboxProtocol", () => {
  it.each<[string, unknown, boolean, boolean]>([
    ["a sandbox", { id: "a", execute, ls: execute }, true, true],
    ["one of the older protocol", { id: "a", execute, lsInfo: execute }, false, true],
    ["a backend without commands", { id: "a", ls: execute }, false, false],
    ["one whose empty id says that it runs none", { id: "", execute, ls: execute }, false, false],
    ["one without an id", { execute, ls: execute }, false, false],
    ["nothing", null, false, false],
    ["a factory", () => ({ id: "a", execute }), false, false],
  ])("%s", (_name, backend, usable, either) => {
    expect(isSandboxBackend(backend)).toBe(usable);
    expect(isSandboxProtocol(backend)).toBe(either);
  });
});
