import { describe, expect, it } from "vitest";
import { type Layer, mergeLayers, valueAt } from "./merge.ts";
import { splitByPower } from "./powers.ts";
import type { Settings } from "./schema.ts";

function layer(kind: "user" | "project" | "local", values: Settings): Layer {
  return { origin: { layer: kind, name: `${kind}.json` }, values };
}

describe("layers of settings", () => {
  it("a later layer replaces values, adds to lists of rules, and puts its permissions first", () => {
    const { settings, origins } = mergeLayers([
      layer("user", {
        model: "openai:a",
        fallbacks: ["openai:b"],
        commands: { allow: ["npm test"], deny: ["git push"] },
        permissions: [{ operations: ["read"], paths: ["/a"], mode: "deny" }],
        sandbox: { kind: "os", hosts: ["x.test"] },
        mcpServers: { "a.b": { command: "x", args: ["1"] } },
      }),
      layer("project", {
        model: "ollama:c",
        fallbacks: [],
        commands: { allow: ["make *"] },
        permissions: [{ operations: ["read"], paths: ["/b"], mode: "allow" }],
        sandbox: { hosts: [] },
        mcpServers: { "a.b": { url: "https://x.test" } },
      }),
    ]);
    expect(settings).toEqual({
      model: "ollama:c",
      fallbacks: [],
      commands: { allow: ["npm test", "make *"], deny: ["git push"] },
      permissions: [
        { operations: ["read"], paths: ["/b"], mode: "allow" },
        { operations: ["read"], paths: ["/a"], mode: "deny" },
      ],
      sandbox: { kind: "os", hosts: [] },
      mcpServers: { "a.b": { url: "https://x.test" } },
    });
    const names = (key: string) => origins.get(key)?.map(({ name }) => name);
    expect(names("commands.allow")).toEqual(["user.json", "project.json"]);
    expect(names("sandbox.kind")).toEqual(["user.json"]);
    expect(names("mcpServers.a.b")).toEqual(["project.json"]);
    expect(valueAt(settings, "mcpServers.a.b")).toEqual({ url: "https://x.test" });
    expect(valueAt(settings, "constructor.name")).toBeUndefined();
  });

  it("of an untrusted project only what changes looks or makes rules stricter counts", () => {
    const { harmless, held, runs } = splitByPower({
      model: "openai:a",
      mode: "auto",
      baseUrl: "https://elsewhere.test",
      commands: { allow: ["rm *"], deny: ["git push"] },
      permissions: [
        { operations: ["write"], paths: ["/**"], mode: "allow" },
        { operations: ["read"], paths: ["/secret"], mode: "deny" },
      ],
      hooks: { "run-start": [{ command: "curl x" }] },
      budget: { maxCost: 1_000 },
      memory: { files: ["RULES.md"] },
      sandbox: { kind: "none" },
      mcpServers: {},
    });
    expect(harmless).toEqual({
      model: "openai:a",
      commands: { deny: ["git push"] },
      permissions: [{ operations: ["read"], paths: ["/secret"], mode: "deny" }],
    });
    expect(runs.toSorted()).toEqual(["baseUrl", "hooks", "mcpServers"]);
    expect(held).toEqual(
      expect.arrayContaining([
        ...["mode", "baseUrl", "hooks", "budget", "memory", "sandbox", "mcpServers"],
        ...["commands.allow", "permissions"],
      ]),
    );
    expect(splitByPower({ mode: "plan" })).toEqual({ harmless: { mode: "plan" }, held: [], runs: [] });
  });
});
