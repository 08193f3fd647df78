/** Two that want the same thread at the same moment, again and again. */
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { begin, OWNER, openSite, type Site } from "./service-for-tests.ts";

const ALL = sized(40, 400);
const THREADS = 20;
const PAIRS = ALL / THREADS;
const State = Annotation.Root({
  words: Annotation<string[]>({ reducer: (known, more) => [...known, ...more], default: () => [] }),
});

const wordsOf = async (site: Site, threadId: string): Promise<string[]> =>
  ((await site.records.threads.get(OWNER, threadId))!.values as { words: string[] }).words;

test(`R-09: of ${ALL} pairs that two services begin at once, none is lost, and each thread has them in its order`, async () => {
  const echo = new StateGraph(State)
    .addNode("echo", ({ words }) => ({ words: [`re: ${words.at(-1)}`] }))
    .addEdge(START, "echo")
    .addEdge("echo", END);
  const one = await openSite({ agent: echo });
  const two = await openSite({ agent: echo }, { directory: one.directory });
  const onThread = async (threadId: string): Promise<string[]> => {
    const ids: [sequence: number, word: string, runId: string][] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const words = [`a${pair}`, `b${pair}`];
      const runs = await Promise.all(
        [one, two].map((site, index) => begin(site, threadId, { input: { words: [words[index]] } })),
      );
      for (const [index, run] of runs.entries()) ids.push([run.sequence, words[index]!, run.run_id]);
    }
    for (const [, , runId] of ids) await one.runs.wait(OWNER, runId);
    return ids.toSorted(([left], [right]) => left - right).flatMap(([, word]) => [word, `re: ${word}`]);
  };
  const threads = Array.from({ length: THREADS }, (_, index) => `t${index}`);
  const expected = await Promise.all(threads.map(onThread));
  for (const [index, threadId] of threads.entries())
    expect(await wordsOf(one, threadId)).toEqual(expected[index]);
  expect([...one.errors, ...two.errors]).toEqual([]);
});

test(`R-10: of ${ALL} questions that are answered twice at once, each has one effect, and one answer is refused`, async () => {
  const effects = new Map<string, number>();
  const ask = new StateGraph(State)
    .addNode("ask", ({ words }, { configurable }) => {
      const answer = interrupt(words.length) as string;
      const key = `${configurable?.thread_id} ${answer}`;
      effects.set(key, (effects.get(key) ?? 0) + 1);
      return { words: [answer] };
    })
    .addEdge(START, "ask")
    .addConditionalEdges("ask", ({ words }) => (words.length > PAIRS ? END : "ask"));
  const one = await openSite({ agent: ask });
  const two = await openSite({ agent: ask }, { directory: one.directory });
  let refused = 0;
  const onThread = async (threadId: string): Promise<void> => {
    const first = await begin(one, threadId, { input: { words: ["begin"] } });
    await one.runs.wait(OWNER, first.run_id);
    for (let question = 0; question < PAIRS; question += 1) {
      const command = { resume: `answer ${question}` };
      const answers = await Promise.allSettled([one, two].map((site) => begin(site, threadId, { command })));
      const taken = answers.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
      for (const each of answers)
        if (each.status === "rejected") {
          expect(each.reason).toMatchObject({ status: 409 });
          refused += 1;
        }
      await Promise.all(taken.map(({ run_id }) => one.runs.wait(OWNER, run_id)));
    }
  };
  const threads = Array.from({ length: THREADS }, (_, index) => `t${index}`);
  await Promise.all(threads.map(onThread));
  expect(effects.size).toBe(ALL);
  expect([...effects.values()].filter((times) => times > 1)).toEqual([]);
  expect(refused).toBe(ALL);
});
