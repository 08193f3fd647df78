/** PM-09: what children inherit, replace, and can never exceed. */
import { tool } from "@langchain/core/tools";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import type { CreateDeepAgentParams } from "../agent-types.ts";
import type { BackendProtocol } from "../backends/backend.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import type { Ceiling } from "../backends/run-tree.ts";
import { LocalShellBackend } from "../backends/shell/local-shell.ts";
import { createFilesystemMiddleware } from "../middleware/filesystem.ts";
import { callTool, say, scriptedModel } from "../testing/index.ts";
import { ask, resultsIn, verdictsOf } from "./agent-for-tests.ts";
import { FILES, rule } from "./backends-for-tests.ts";
import { ceilingOf } from "./ceiling.ts";
import { explainPermission, type FilesystemOperation, type FilesystemPermission } from "./rules.ts";

type Level = Pick<CreateDeepAgentParams, "permissions" | "permissionCeiling">;

const PROBES: readonly [string, FilesystemOperation][] = ["/a/b/c", "/a/x", "/b/c", "/c"].flatMap((path) => [
  [path, "read"] as const,
  [path, "write"] as const,
]) as never;

/** Answers to each level of a chain of agents, each started by a tool of the one above. */
async function answersByLevel(levels: readonly Level[], passesConfig = true): Promise<string[][]> {
  const answers: string[][] = [];
  const build = (depth: number): ReturnType<typeof createDeepAgent> => {
    const inner = depth + 1 < levels.length ? build(depth + 1) : undefined;
    const delegate = tool(
      async (_, config) => {
        await (passesConfig ? inner?.invoke(ask(), config as object) : inner?.invoke(ask()));
        return "ok";
      },
      { name: "delegate", description: "Delegates.", schema: z.object({}) },
    );
    const probe = tool(async () => "unused", { name: "unused", description: "None.", schema: z.object({}) });
    const calls = PROBES.map(([path, operation]) =>
      operation === "read"
        ? callTool("read_file", { file_path: path })
        : callTool("edit_file", { file_path: path, old_string: "needle", new_string: "needle " }),
    );
    const agent = createDeepAgent({
      model: scriptedModel([...calls, ...(inner ? [callTool("delegate", {})] : []), say("done")]),
      backend: new MapBackend(Object.fromEntries(PROBES.map(([path]) => [path, "needle"]))),
      tools: inner ? [delegate] : [probe],
      ...levels[depth],
    } as CreateDeepAgentParams);
    const invoke = agent.invoke.bind(agent);
    agent.invoke = (async (...given: Parameters<typeof invoke>) => {
      const result = await invoke(...given);
      answers[depth] = resultsIn(result.messages)
        .slice(0, PROBES.length)
        .map(({ text }) => (text.startsWith("Error: permission denied") ? "deny" : "allow"));
      return result;
    }) as never;
    return agent;
  };
  await build(0).invoke(ask());
  return answers;
}

/** Expected answers of a chain: own rules, and the ceilings above. */
function expectedByLevel(levels: readonly Level[]): string[][] {
  return levels.map(({ permissions }, depth) =>
    PROBES.map(([path, operation]) => {
      const above = levels.slice(0, depth).map(({ permissionCeiling }) => permissionCeiling);
      const all = [permissions, ...above].map((rules) => explainPermission(rules, path, operation).mode);
      return all.includes("deny") ? "deny" : "allow";
    }),
  );
}

/** A generator with a seed, so that a failure can be repeated. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const PATHS = ["/**", "/a/**", "/a/b/**", "/a/*", "/b/c", "/**/c", "/{a,b}/**", "/c"];

function randomRules(next: (below: number) => number): FilesystemPermission[] {
  return Array.from({ length: next(4) }, () => {
    const operations = ([["read"], ["write"], ["read", "write"]] as const)[next(3)] as never;
    return rule(next(2) === 0 ? "allow" : "deny", PATHS[next(PATHS.length)] as string, operations);
  });
}

describe("PM-09 a ceiling", () => {
  it("PM-09 is never exceeded in random trees of depth four, and own rules are not inherited", async () => {
    const warn = console.warn;
    console.warn = () => {};
    try {
      for (let seed = 1; seed <= 12; seed += 1) {
        const next = randomFrom(seed);
        const levels: Level[] = Array.from({ length: 4 }, () => ({
          permissions: randomRules(next),
          permissionCeiling: randomRules(next),
        }));
        const answers = await answersByLevel(levels, seed % 2 === 0);
        expect([seed, answers]).toEqual([seed, expectedByLevel(levels)]);
      }
    } finally {
      console.warn = warn;
    }
  });

  it("PM-09 does not bind the agent that has it, and binds what runs inside it", async () => {
    const levels = [{ permissionCeiling: [rule("deny", "/**", ["write"])] }, {}, { permissions: [] }];
    const answers = await answersByLevel(levels);
    const writes = answers.map((level) =>
      PROBES.map(([, op], i) => [op, level[i]]).filter(([op]) => op === "write"),
    );
    expect(writes.map((level) => new Set(level.map(([, answer]) => answer)))).toEqual([
      new Set(["allow"]),
      new Set(["deny"]),
      new Set(["deny"]),
    ]);
  });

  it("PM-09 a coordinator that may not write can delegate to a writer", async () => {
    const answers = await answersByLevel([{ permissions: [rule("deny", "/**", ["write"])] }, {}]);
    expect(answers[0]).toContain("deny");
    expect(answers[1]).not.toContain("deny");
  });

  it("PM-09 takes the commands away that would go around it, unless the sandbox enforces it", async () => {
    const ceiling = ceilingOf([rule("deny", "/secrets/**")]) as Ceiling;
    const shell = new LocalShellBackend({ rootDir: process.cwd(), virtualMode: true });
    expect((ceiling(shell) as { execute?: unknown }).execute).toBeUndefined();
    const enforcing = Object.assign(shell, { enforcesPermissions: true as const });
    expect((ceiling(enforcing) as { execute?: unknown }).execute).toBeTypeOf("function");
    expect(ceilingOf([])).toBeUndefined();
  });

  it("cannot ask a person", () => {
    expect(() => ceilingOf([rule("deny", "/a"), rule("interrupt", "/b")])).toThrow(
      "permissionCeiling[1] has the mode 'interrupt': a ceiling allows or denies.",
    );
  });
});

describe("PM-09 a subagent", () => {
  const denied = [rule("deny", "/secrets/**")];
  const childAnswers = async (
    child: { permissions?: FilesystemPermission[] },
    parent: Level = { permissions: denied },
  ): Promise<string[]> => {
    const answers: string[] = [];
    const paths = ["/secrets/key.txt", "/notes.md"];
    const model = scriptedModel(({ messages, turn }) => {
      if (turn > 0) answers.push(messages.at(-1)?.text ?? "");
      const path = paths[turn];
      return path === undefined ? say("done") : callTool("read_file", { file_path: path });
    });
    const agent = createDeepAgent({
      model: scriptedModel([callTool("task", { description: "Go.", subagent_type: "reader" }), say("done")]),
      backend: new MapBackend(FILES),
      subagents: [{ name: "reader", description: "Reads.", systemPrompt: "Read.", model, ...child }],
      ...parent,
    } as never);
    await agent.invoke(ask());
    return answers.map((text) => (text.startsWith("Error: permission denied") ? "deny" : "allow"));
  };

  it("PM-09 without rules has those of its parent", async () => {
    expect(await childAnswers({})).toEqual(["deny", "allow"]);
  });

  it("PM-09 with an empty list has none", async () => {
    expect(await childAnswers({ permissions: [] })).toEqual(["allow", "allow"]);
  });

  it("PM-09 with rules of its own has those alone", async () => {
    expect(await childAnswers({ permissions: [rule("deny", "/notes.md")] })).toEqual(["allow", "deny"]);
  });

  it("PM-09 that is a graph of somebody else, with our file tools, cannot exceed the ceiling either", async () => {
    const backend = new MapBackend(FILES);
    const calls = ["/secrets/key.txt", "/notes.md"].map((path) => callTool("read_file", { file_path: path }));
    const runnable = createAgent({
      model: scriptedModel([...calls, say("done")]),
      middleware: [createFilesystemMiddleware({ backend })],
    });
    const answers: string[] = [];
    const noting = {
      invoke: async (input: never, config: object) => {
        const result = await runnable.invoke(input, config);
        answers.push(...resultsIn(result.messages as never).map(({ text }) => text.slice(0, 24)));
        return result;
      },
    };
    const agent = createDeepAgent({
      model: scriptedModel([callTool("task", { description: "Go.", subagent_type: "other" }), say("done")]),
      subagents: [{ name: "other", description: "Reads.", runnable: noting }] as never,
      permissionCeiling: denied,
    });
    await agent.invoke(ask());
    expect(answers).toEqual(["Error: permission denied", expect.stringContaining("needle")]);
  });

  it("PM-09 cannot exceed the ceiling of its parent, whatever its rules", async () => {
    const parent = { permissionCeiling: denied };
    for (const child of [{}, { permissions: [] }, { permissions: [rule("allow", "/**")] }])
      expect(await childAnswers(child, parent)).toEqual(["deny", "allow"]);
  });
});

it("without permissions nothing stands between the tools and the backend", async () => {
  const seen: unknown[] = [];
  class Watched extends MapBackend {
    override async read(...given: Parameters<BackendProtocol["read"]>) {
      seen.push(this);
      return super.read(...(given as [string]));
    }
  }
  const backend = new Watched(FILES);
  expect(await verdictsOf([["read_file", { file_path: "/notes.md" }]], { backend })).toEqual(["done"]);
  expect(seen).toEqual([backend]);
});
