/** A long piece of work a server's model can be told to do, turn by turn. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import type { ProviderAnswer, SeenRequest } from "./provider-server-for-tests.ts";
import { overflowBody } from "./provider-server-wire-for-tests.ts";

const WORDS =
  "the report says that every third valve of line seven was replaced before the inspection ".split(" ");

/** So many words, not the same in two turns. */
export function prose(count: number, seed: number): string {
  return Array.from({ length: count }, (_, index) =>
    index % 9 === 8 ? String(seed * 31 + index) : WORDS[(index * 5 + seed) % WORDS.length],
  ).join(" ");
}

export const look = tool(({ count, seed }) => prose(count, seed), {
  name: "look",
  description: "Looks something up.",
  schema: z.object({ count: z.number(), seed: z.number() }),
});

export const fail = tool(
  ({ seed }) => {
    throw new Error(`Station ${seed} does not answer.`);
  },
  { name: "fail", description: "Asks a station.", schema: z.object({ seed: z.number() }) },
);

export interface LongWork {
  /** Turns of the agent; every `rest`-th answers the user. */
  readonly turns: number;
  readonly rest: number;
  /** Words a result has about. */
  readonly size: number;
  /** The first request with more tokens than this is refused as too large. */
  readonly overflowOver?: number;
}

/** Requests without tools are those of a summariser. */
export function isSummary(request: Pick<SeenRequest, "tools">): boolean {
  return request.tools.length === 0;
}

export function longWork(
  work: LongWork,
): (request: Omit<SeenRequest, "status" | "refusal">) => ProviderAnswer {
  let turn = 0;
  let hasOverflown = false;
  return (request) => {
    if (isSummary(request))
      return { text: `The user wants the valves counted. So far turn ${turn}. ${prose(60, turn)}` };
    const { overflowOver = Number.POSITIVE_INFINITY } = work;
    if (request.counted.total > overflowOver && !hasOverflown) {
      hasOverflown = true;
      return { status: 400, body: overflowBody(request.api, request.counted.total, overflowOver) };
    }
    turn += 1;
    return step(turn, work);
  };
}

function step(turn: number, { rest, size }: LongWork): ProviderAnswer {
  if (turn % rest === 0) return { text: `Report ${turn}: ${prose(20, turn)}` };
  const one = { name: "look", args: { count: size, seed: turn } };
  const file = { file_path: `/notes/${turn % 7}.md` };
  if (turn % 11 === 0) return { calls: [{ name: "fail", args: { seed: turn } }] };
  if (turn % 7 === 0)
    return { calls: [one, { name: "read_file", args: file }, { name: "no_such_tool", args: {} }] };
  if (turn % 5 === 0)
    return {
      text: "I note it.",
      calls: [{ name: "edit_file", args: { ...file, old_string: "", new_string: "x" } }, one],
    };
  return { calls: [one] };
}

type Calls = NonNullable<ProviderAnswer["calls"]>;

/** Turns of ordinary work: files, plans, parallel calls, failures, words. */
export function everydayWork(turn: number): ProviderAnswer {
  const file = `/notes/${turn}.md`;
  const kinds: readonly Calls[] = [
    [{ name: "write_file", args: { file_path: file, content: `# ${turn}\nüber "quotes" $& \\ 漢字\n` } }],
    [{ name: "write_todos", args: { todos: [{ content: `step ${turn}`, status: "in_progress" }] } }],
    [
      { name: "read_file", args: { file_path: "/notes/0.md" } },
      { name: "ls", args: { path: "/notes" } },
      { name: "grep", args: { pattern: "quotes" } },
    ],
    [{ name: "edit_file", args: { file_path: "/notes/0.md", old_string: "absent", new_string: "x" } }],
    [{ name: "picture", args: {} }],
    [{ name: "no_such_tool", args: { a: turn } }],
    [{ name: "read_file", args: { wrong: true } }],
  ];
  const calls = kinds[turn % kinds.length] as Calls;
  return turn % 10 === 9 ? { text: `Report ${turn}.` } : { ...(turn % 3 ? {} : { text: "On it." }), calls };
}

export const picture = tool(() => [{ type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" }], {
  name: "picture",
  description: "Shows a picture.",
  schema: z.object({}),
});
