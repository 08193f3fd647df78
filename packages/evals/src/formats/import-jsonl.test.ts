import { expect, test } from "vitest";
import { checkSuites } from "../format/check-case.ts";
import { casesFromJsonl } from "./import-jsonl.ts";

const line = (fields: object): string => JSON.stringify({ id: "one", task: "Do it.", ...fields });

const output = (answer: string, files: Record<string, string> = {}) =>
  ({ answer, files, answers: [answer], calls: [], state: {}, world: {} }) as never;

async function passes(fields: object, answer: string, files?: Record<string, string>): Promise<boolean> {
  const [given] = casesFromJsonl(line(fields));
  const verdicts = await Promise.all(
    (given?.verify ?? []).map((each) => each.check(output(answer, files), {} as never)),
  );
  return verdicts.every(({ passed }) => passed);
}

test.each<[string, object, string, Record<string, string>, boolean]>([
  ["an answer", { answer: "Paris" }, "It is Paris.", {}, true],
  ["another answer", { answer: "Paris" }, "It is Rome.", {}, false],
  ["several words", { answer: ["a1", "b2"] }, "a1 only", {}, false],
  ["a number with tolerance", { number: 10, tolerance: 0.5 }, "about 10.4", {}, true],
  ["a number too far off", { number: 10 }, "about 10.4", {}, false],
  ["a final file", { files: { "/a": "x" } }, "", { "/a": "x" }, true],
  ["a final file that differs", { files: { "/a": "x" } }, "", { "/a": "y" }, false],
  ["a file that is gone", { files: { "/a": null } }, "", {}, true],
  ["a file that is still there", { files: { "/a": null } }, "", { "/a": "" }, false],
  ["text in a file", { contains: { "/a": "x" } }, "", { "/a": "axb" }, true],
])("a line expects %s", async (_, expected, answer, files, passed) => {
  expect(await passes({ expected }, answer, files)).toBe(passed);
});

test("lines become cases that may run, with the files they start with", () => {
  const lines = [
    line({ expected: { answer: "x" }, files: { "/a": "1" }, system_prompt: "Be brief.", model_calls: 3 }),
    "",
    line({ id: "two", task: ["Hello.", "And now?"], expected: { answer: "y" } }),
  ];
  const cases = casesFromJsonl(lines.join("\r\n"));
  expect(() => checkSuites([{ category: "imported", cases }])).not.toThrow();
  expect(cases).toMatchObject([
    { id: "one", files: { "/a": "1" }, systemPrompt: "Be brief.", limits: { modelCalls: 3 } },
    { id: "two", task: ["Hello.", "And now?"], limits: { modelCalls: 20 } },
  ]);
});

test("bad lines are listed with their numbers, and nothing is imported", () => {
  const lines = [
    "{",
    line({ expected: {} }),
    line({ expected: { answer: "x" }, extra: 1 }),
    line({ expected: { answer: "x" } }),
    line({ expected: { answer: "x" } }),
    line({ id: "three", expected: { answer: "x" }, files: { relative: "" } }),
    line({ id: "four", expected: { answer: "x", tolerance: 1 } }),
  ];
  expect(() => casesFromJsonl(lines.join("\n"))).toThrow(
    /line 1: not JSON.*\n.*line 2: expected: nothing is expected.*\n.*line 3: .*"extra".*\n.*line 5: the id 'one' is used twice.*\n.*line 6: files\.relative.*\n.*line 7: expected\.tolerance/,
  );
  expect(() => casesFromJsonl("\n")).toThrow("there is no case");
});
