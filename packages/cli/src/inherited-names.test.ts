/** Names that every JavaScript object inherits, in what a model says. */
import { expect, onTestFinished, test } from "vitest";
import { failureWords } from "./run/output/failure-words.ts";
import { endWords } from "./run/output/run-end.ts";
import { callLine, todoLines } from "./run/output/tool-lines.ts";
import { providerServer } from "./test-support/provider-server.ts";
import { directoryWith, runBinary } from "./test-support/run-binary.ts";

const NAMES = ["constructor", "toString", "__proto__"];

test.each([[[]], [["--verbose"]], [["--json"]]])(
  "a run with calls of such tools ends well: %j",
  async (flags) => {
    const args = JSON.parse('{"__proto__": "a", "constructor": "b"}');
    const calls = NAMES.map((name) => ({ call: { name, args } }));
    const provider = await providerServer([...calls, { text: ["Done."] }]);
    onTestFinished(() => provider.close());
    const cwd = await directoryWith({});
    const env = { ANTHROPIC_API_KEY: "key-key-key", ANTHROPIC_BASE_URL: provider.url };
    const result = await runBinary(["run", "go", "--yes", ...flags], { cwd, env });
    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("Done.") });
    for (const name of NAMES) expect(result.all).toContain(`There is no tool '${name}'`);
    expect(provider.asked()).toHaveLength(NAMES.length + 1);
  },
);

test.each(NAMES)("%s in a call, a todo, an outcome and the code of an error is shown as it is", (name) => {
  expect(callLine(name, {}, 80)).toBe(name);
  expect(todoLines([{ content: name, status: name }], 80)).toEqual([`☐ ${name}`]);
  expect(endWords({ kind: "ended", outcome: { kind: name } } as never)).toBe(name);
  expect(failureWords(Object.assign(new Error("no"), { code: name, hint: "no" }), undefined, {})).toBe("no");
});
