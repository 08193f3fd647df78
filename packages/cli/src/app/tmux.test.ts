/** Scripted sessions in a real tmux: nothing is lost or repeated, also by a resize in the middle. */
import { expect, onTestFinished, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { providerServer } from "../test-support/provider-server.ts";
import { directoryWith } from "../test-support/run-binary.ts";
import { startInTmux } from "../test-support/tmux.ts";

type Size = readonly [columns: number, rows: number];

const SIZES: readonly Size[] = sized<readonly Size[]>(
  [[80, 24]],
  [
    [60, 20],
    [80, 24],
    [120, 40],
    [200, 50],
  ],
);
const LINES = sized(1_000, 10_000);
const ODD = [
  "日本語の行",
  "🎉 👩‍👩‍👧 party",
  "e\u0301a\u0308 marks",
  "\u05e9\u05dc\u05d5\u05dd right to left",
];

test.each(SIZES)(
  "at %i×%i lines that are streamed while the window changes are there once and in order",
  async (...size) => {
    const [columns, rows] = size;
    const cwd = await directoryWith({});
    let go = (): void => {};
    const hold = new Promise<void>((resolve) => {
      go = resolve;
    });
    const lines = Array.from({ length: LINES }, (_, index) => `line ${index} ${ODD[index % 50] ?? ""}\n`);
    const text = ["```text\n", ...lines, "```\n", "That is all."];
    const server = await providerServer([{ text, hold }]);
    onTestFinished(async () => {
      go();
      await server.close();
    });
    const model = ["--model", "openai:m1", "--base-url", `${server.url}/v1`];
    const app = await startInTmux(model, { cwd, env: { OPENAI_API_KEY: "key" } }, size);
    await app.sees("openai:m1");
    await app.type("count");
    await app.enter();
    await app.sees("line ");
    await app.resize(columns + 17, rows + 5);
    await app.resize(columns - 9, rows - 3);
    await app.sees(`line ${LINES - 1}`);
    await app.resize(columns, rows);
    await app.type("typed ahead");
    await app.sees("› typed ahead");
    go();
    await app.sees("✔ done");
    const counted = (await app.rows()).flatMap((row) => /\bline (\d+)\b/.exec(row)?.[1] ?? []);
    expect(counted).toEqual(lines.map((_, index) => String(index)));
    const all = (await app.rows()).join("\n");
    for (const odd of ODD) expect(all).toContain(odd);
    for (const sequence of ["[2J", "[3J", "[?1049h", "[?47h"])
      expect(await app.written()).not.toContain(`\x1b${sequence}`);
  },
);
