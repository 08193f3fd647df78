import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { CORPUS, type CorpusKind, KINDS, pick, randomFrom } from "./corpus-for-tests.ts";
import { messageTokens } from "./token-meter.ts";
import { CountedThread, manyTools, VOCABULARIES, type Vocabulary } from "./token-provider-for-tests.ts";

const VOCABULARY_NAMES = Object.keys(VOCABULARIES) as Vocabulary[];
const TEXTS: readonly CorpusKind[] = [
  "english",
  "typescript",
  "python",
  "chinese",
  "japanese",
  "korean",
  "base64",
];
const TOOLS = manyTools(randomFrom(3), 200);

describe.each(VOCABULARY_NAMES)("against a provider that counts with %s", (vocabulary) => {
  test.each(TEXTS)("a thread of %s is counted within 12 % after two turns, and never 10 % under", (kind) => {
    for (const tools of [[], TOOLS]) {
      const random = randomFrom(11);
      const thread = new CountedThread(vocabulary, tools);
      thread.say(CORPUS[kind](random, 1500));
      for (let turn = 0; turn < 6; turn += 1) {
        thread.turn(random, CORPUS[kind](random, 1000 + Math.floor(random() * 12_000)));
        if (turn === 0) continue;
        const { ours, theirs } = thread.count();
        expect(ours / theirs).toBeGreaterThan(0.9);
        expect(ours / theirs).toBeLessThan(1.12);
      }
    }
  });

  test("after two turns no mix of texts is counted a quarter under when the window is nearly full", () => {
    for (let seed = 0; seed < 8; seed += 1) {
      const random = randomFrom(seed);
      const thread = new CountedThread(vocabulary, seed % 3 === 0 ? TOOLS : []);
      thread.say(CORPUS.english(random, 800));
      for (let turn = 0; turn < 8; turn += 1) {
        thread.turn(
          random,
          CORPUS[pick(random, KINDS)](random, 500 + Math.floor(random() * (turn > 5 ? 40_000 : 8000))),
        );
        if (turn === 0) continue;
        const { ours, theirs } = thread.count();
        expect(ours / theirs, `seed ${seed}, turn ${turn}`).toBeGreaterThan(0.75);
      }
    }
  });

  test.each(TEXTS)(
    "a thread of English that gets a large file of %s is counted within 5 % once the provider has seen the file",
    (kind) => {
      const random = randomFrom(5);
      const thread = new CountedThread(vocabulary);
      thread.say(CORPUS.english(random, 800));
      for (let turn = 0; turn < 3; turn += 1) thread.turn(random, CORPUS.english(random, 6000));
      thread.turn(random, CORPUS[kind](random, 60_000));
      // Scripts differ between vocabularies: until then some may be missing, and a refused request is compacted.
      const before = thread.count();
      expect(before.ours / before.theirs).toBeGreaterThan(0.8);
      thread.turn(random, CORPUS[kind](random, 2000));
      const after = thread.count();
      expect(after.ours / after.theirs).toBeGreaterThan(0.95);
      expect(after.ours / after.theirs).toBeLessThan(1.1);
    },
  );

  test.each(TEXTS)("a thread of %s that was cut is counted by what was learnt", (kind) => {
    const random = randomFrom(6);
    const thread = new CountedThread(vocabulary, TOOLS.slice(0, 20));
    thread.say(CORPUS[kind](random, 1500));
    for (let turn = 0; turn < 5; turn += 1) thread.turn(random, CORPUS[kind](random, 9000));
    const summary = new HumanMessage({ id: "summary", content: CORPUS[kind](random, 3000) });
    thread.messages = [summary, ...thread.messages.slice(-2)];
    const { ours, theirs } = thread.count();
    expect(ours / theirs).toBeGreaterThan(0.95);
    expect(ours / theirs).toBeLessThan(1.2);
  });
});

test("messages one by one are never counted under what they are together", () => {
  const random = randomFrom(8);
  const thread = new CountedThread("cl100k at 1.25");
  thread.say("Begin.");
  for (let turn = 0; turn < 6; turn += 1) thread.turn(random, CORPUS[pick(random, KINDS)](random, 4000));
  const sum = [thread.system, ...thread.messages].reduce(
    (total, message) => total + messageTokens(message, thread.model),
    0,
  );
  expect(sum).toBeGreaterThan(thread.exact() * 0.95);
});
