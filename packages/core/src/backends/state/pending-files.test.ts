import { tool } from "@langchain/core/tools";
import {
  Command,
  END,
  interrupt,
  MemorySaver,
  ReducedValue,
  Send,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { BackendProtocol, EditResult, FileData } from "../backend.ts";
import { resolveBackend } from "../resolve.ts";
import { filesValue, StateBackend } from "./state.ts";

type Act = (backend: BackendProtocol, config: any) => unknown;

const list = () =>
  new ReducedValue(z.array(z.any()).default([]), {
    reducer: (left: any[], right: any[]) => [...left, ...right],
  });

/** A graph that runs each round as one superstep with one task per act, in a real run. */
function graphOf(
  rounds: readonly (readonly Act[])[],
  options: { checkpointer?: MemorySaver; retry?: boolean } = {},
) {
  const State = new StateSchema({ files: filesValue, results: list(), round: z.number().default(0) });
  const act = async (packet: { round: number; index: number }, config: any) => {
    const backend = await resolveBackend(new StateBackend(), { state: {}, config });
    const result = await rounds[packet.round]?.[packet.index]?.(backend, config);
    return { results: [result] };
  };
  return new StateGraph(State)
    .addNode("plan", () => ({}))
    .addNode("next", (state: { round: number }) => ({ round: state.round + 1 }))
    .addNode(
      "act",
      act as never,
      options.retry ? { retryPolicy: { initialInterval: 1, jitter: false, logWarning: false } } : {},
    )
    .addEdge(START, "plan")
    .addConditionalEdges(
      "plan",
      (state: any) => {
        const acts = rounds[state.round] ?? [];
        return acts.length === 0
          ? END
          : acts.map((_, index) => new Send("act", { round: state.round, index }));
      },
      ["act", END] as never,
    )
    .addEdge("act", "next")
    .addEdge("next", "plan")
    .compile({ checkpointer: options.checkpointer });
}

type Outcome = { files: Record<string, FileData>; results: any[] };

const run = (rounds: readonly (readonly Act[])[], files: Record<string, unknown> = {}): Promise<Outcome> =>
  graphOf(rounds).invoke({ files } as never) as never;

/** A gate: one call waits at it, another opens it. */
function gate(): { readonly isOpen: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { isOpen, open: () => open() };
}

/** The message of what was thrown, at once or later. */
async function thrownBy(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    return (error as Error).message;
  }
  return "written";
}

const texts = (outcome: Outcome): Record<string, string> =>
  Object.fromEntries(Object.entries(outcome.files).map(([path, data]) => [path, String(data.content)]));

describe("StateBackend in a run", () => {
  it("keeps what was written, edited and deleted in the state of the thread", async () => {
    const outcome = await run(
      [
        [(backend) => backend.write("/a.md", "one")],
        [(backend) => backend.edit("/a.md", "one", "two")],
        [(backend) => backend.write("/dir/b.txt", "b"), (backend) => backend.delete?.("/old")],
      ],
      { "/old/x": { content: "x" }, "/old/y/z": { content: "z" } },
    );
    expect(texts(outcome)).toEqual({ "/a.md": "two", "/dir/b.txt": "b" });
    expect(outcome.files["/a.md"]).toMatchObject({ mimeType: "text/markdown" });
    expect(outcome.results).toEqual([
      { path: "/a.md" },
      { path: "/a.md", occurrences: 1 },
      { path: "/dir/b.txt" },
      { path: "/old" },
    ]);
  });

  it("lets a call read what it and others have written in the same superstep", async () => {
    const written = gate();
    const outcome = await run([
      [
        async (backend) => {
          await backend.write("/a.txt", "from the first call");
          written.open();
          return (await backend.read("/a.txt")).content;
        },
        async (backend) => {
          await written.isOpen;
          const listed = await backend.ls("/");
          return [(await backend.read("/a.txt")).content, listed.files?.map((file) => file.path)];
        },
      ],
    ]);
    expect(outcome.results).toEqual(["from the first call", ["from the first call", ["/a.txt"]]]);
  });

  it("hides a file deleted in the same superstep", async () => {
    const outcome = await run(
      [
        [
          (backend) => backend.delete?.("/a"),
          async (backend) => [
            (await backend.read("/a")).error,
            (await backend.glob("*")).files,
            (await backend.grep("x")).matches,
          ],
        ],
      ],
      { "/a": { content: "x" } },
    );
    expect(outcome.results[1]).toEqual(["File '/a' not found", [], []]);
  });

  it("knows the directories that others have made and removed in the same superstep", async () => {
    const outcome = await run(
      [
        [
          (backend) => backend.write("/made/x", "x"),
          (backend) => backend.delete?.("/gone"),
          async (backend) => [await backend.write("/made", ""), await backend.write("/gone", "")],
        ],
      ],
      { "/gone/x": { content: "x" } },
    );
    expect(outcome.results[2]).toMatchObject([{ code: "IS_DIRECTORY" }, { path: "/gone" }]);
    expect(Object.keys(outcome.files).sort()).toEqual(["/gone", "/made/x"]);
  });

  it("gives a name to exactly one of many that create it", async () => {
    const outcome = await run([
      Array.from(
        { length: 20 },
        (_, index): Act =>
          async (backend) => {
            await new Promise((resolve) => setTimeout(resolve, (index * 7) % 5));
            return backend.write("/one.txt", `writer ${index}`);
          },
      ),
    ]);
    const winners = outcome.results.flatMap((result, index) => (result.error === undefined ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(texts(outcome)).toEqual({ "/one.txt": `writer ${winners[0]}` });
    expect(outcome.results.find((result) => result.error)).toMatchObject({
      error:
        "Cannot write to /one.txt because it already exists. Read and then make an edit, or write to a new path.",
      code: "FILE_EXISTS",
    });
  });

  it("lands every parallel edit of one file, or tells the caller that it did not", async () => {
    for (let seed = 0; seed < 15; seed++) {
      const count = 2 + (seed % 12);
      const content = Array.from({ length: count }, (_, index) => `slot ${index} empty;`).join("\n");
      const acts = Array.from(
        { length: count },
        (_, index): Act =>
          async (backend) => {
            await new Promise((resolve) =>
              setTimeout(resolve, ((index + 1) * (seed + 3) * 7) % (seed % 3 === 0 ? 1 : 9)),
            );
            return backend.edit("/shared.md", `slot ${index} empty`, `slot ${index} taken`);
          },
      );
      const outcome = await run([acts], { "/shared.md": { content } });
      const landed = texts(outcome)["/shared.md"];
      for (const [index, result] of (outcome.results as EditResult[]).entries()) {
        expect(landed).toContain(`slot ${index} ${result.error === undefined ? "taken" : "empty"};`);
        if (result.error !== undefined) expect(result.code).toBe("CONFLICT");
      }
      if (seed % 3 === 0) expect(outcome.results.every((result) => result.error === undefined)).toBe(true);
    }
  });

  it("tells an earlier call that a later one has already changed the file, and nothing is lost on retry", async () => {
    const edited = gate();
    const late: Act = async (backend) => {
      await edited.isOpen;
      return backend.edit("/f", "a", "A");
    };
    const early: Act = async (backend) => {
      const result = await backend.edit("/f", "b", "B");
      edited.open();
      return result;
    };
    const outcome = await run([[late, early], [(backend) => backend.edit("/f", "a", "A")]], {
      "/f": { content: "a b" },
    });
    expect(outcome.results[0]).toEqual({
      error:
        "'/f' was changed by another tool call of this turn. Nothing was done: read the file again and retry.",
      code: "CONFLICT",
    });
    expect(texts(outcome)).toEqual({ "/f": "A B" });
  });

  it("forgets the changes of an attempt that failed and is tried again", async () => {
    let attempts = 0;
    const flaky: Act = async (backend) => {
      attempts += 1;
      const result = await backend.edit("/f", "old", "new");
      if (attempts === 1) throw new Error("lost connection");
      return result;
    };
    const graph = graphOf([[flaky]], { retry: true });
    const outcome = (await graph.invoke({
      files: { "/f": { content: "old" } },
    } as never)) as never as Outcome;
    expect(attempts).toBe(2);
    expect(outcome.results).toEqual([{ path: "/f", occurrences: 1 }]);
    expect(texts(outcome)).toEqual({ "/f": "new" });
  });

  it("does not lose the edit of a call that finished before the run was interrupted", async () => {
    const asks: Act = async (backend) => {
      interrupt("may I?");
      return backend.edit("/f", "b", "B");
    };
    const graph = graphOf(
      [[(backend) => backend.edit("/f", "a", "A"), asks], [(backend) => backend.edit("/f", "b", "B")]],
      {
        checkpointer: new MemorySaver(),
      },
    );
    const thread = { configurable: { thread_id: "t" } };
    await graph.invoke({ files: { "/f": { content: "a b" } } } as never, thread);
    const outcome = (await graph.invoke(new Command({ resume: "yes" }), thread)) as never as Outcome;
    expect(outcome.results[1]).toMatchObject({ code: "CONFLICT" });
    expect(texts(outcome)).toEqual({ "/f": "A B" });
  });

  it("does not mix the files of threads that run at the same time", async () => {
    const act =
      (name: string): Act =>
      async (backend) => {
        await backend.write(`/${name}`, name);
        await new Promise((resolve) => setTimeout(resolve, 5));
        return (await backend.ls("/")).files?.map((file) => file.path);
      };
    const outcomes = await Promise.all(["a", "b", "c"].map((name) => run([[act(name)]])));
    expect(outcomes.map((outcome) => outcome.results[0])).toEqual([["/a"], ["/b"], ["/c"]]);
  });

  it("keeps the files of a child graph apart from those of its parent", async () => {
    const child = graphOf([
      [(backend) => backend.write("/child", "c")],
      [(backend) => backend.read("/child")],
    ]);
    const outcome = await run([
      [
        async (backend) => {
          await backend.write("/parent", "p");
          const inner = (await child.invoke({ files: {} } as never)) as never as Outcome;
          return [Object.keys(inner.files), (await backend.ls("/")).files?.map((file) => file.path)];
        },
      ],
    ]);
    expect(outcome.results[0]).toEqual([["/child"], ["/parent"]]);
    expect(Object.keys(outcome.files)).toEqual(["/parent"]);
  });

  it("finds its task by itself when nobody bound it", async () => {
    const backend = new StateBackend();
    const viaTool = tool(
      async () => {
        await backend.write("/tool.txt", "x");
        return (await backend.edit("/tool.txt", "x", "y")).error ?? "fine";
      },
      { name: "t", description: "t", schema: z.object({}) },
    );
    const outcome = await run([
      [async () => (await backend.write("/node.txt", "n")).path],
      [async (_bound, config) => viaTool.invoke({}, config)],
    ]);
    expect(outcome.results).toEqual(["/node.txt", "fine"]);
    expect(texts(outcome)).toEqual({ "/node.txt": "n", "/tool.txt": "y" });
  });

  it("throws when the run was stopped, and writes nothing", async () => {
    const outcome = await run([
      [
        async (backend) => {
          const stopped = AbortSignal.abort(new Error("stopped"));
          return thrownBy(() => backend.write("/a", "x", { signal: stopped }));
        },
        async (_backend, config) => {
          const bound = new StateBackend().withRuntime({
            state: {},
            config: { ...config, signal: AbortSignal.abort(new Error("stop")) },
          });
          return thrownBy(() => bound.write("/b", "x"));
        },
      ],
    ]);
    expect(outcome.results).toEqual(["stopped", "stop"]);
    expect(outcome.files).toEqual({});
  });

  it("refuses to write where no channel would take it", async () => {
    const graph = new StateGraph(new StateSchema({ results: list() }))
      .addNode("act", async (_state, config) => {
        const backend = await resolveBackend(undefined, { state: {}, config });
        return { results: [await thrownBy(() => backend.write("/a", "x"))] };
      })
      .addEdge(START, "act")
      .compile();
    expect(await graph.invoke({})).toEqual({
      results: [expect.stringContaining("no state channel 'files'")],
    });
  });

  it("takes names of Object.prototype for names, also in the input", async () => {
    const names = ["/__proto__", "/constructor", "/toString", "/hasOwnProperty/x"];
    const outcome = await run(
      [
        [async (backend) => (await backend.read("/__proto__")).content],
        [(backend) => backend.delete?.("/__proto__")],
        names.map(
          (name): Act =>
            (backend) =>
              backend.write(name, name),
        ),
        names.map(
          (name): Act =>
            async (backend) =>
              (await backend.edit(name, name, "edited")).error,
        ),
        [async (backend) => (await backend.glob("**")).files?.map((file) => file.path)],
        names.map(
          (name): Act =>
            (backend) =>
              backend.delete?.(name),
        ),
      ],
      JSON.parse('{"__proto__": {"content": "given"}}'),
    );
    expect(outcome.results[0]).toBe("given");
    expect(outcome.results.slice(6, 10)).toEqual([undefined, undefined, undefined, undefined]);
    expect(outcome.results[10]).toEqual([...names].sort());
    expect(outcome.files).toEqual({});
    expect(({} as any).content).toBeUndefined();
  });
});
