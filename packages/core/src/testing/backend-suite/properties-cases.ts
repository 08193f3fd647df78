import type { ReadResult } from "../../backends/backend.ts";
import { ensure, type Success, same, show, succeeded } from "../suite/suite-check.ts";
import { forRandom, type SuiteRandom } from "../suite/suite-random.ts";
import type { BackendCase, BackendUnderTest } from "./backend-case.ts";
import { shown } from "./backend-case.ts";
import { SuiteModel } from "./suite-model.ts";

type ReadPage = Success<ReadResult>;

const PIECES = [
  "a",
  "b",
  "needle",
  " ",
  "\t",
  "é",
  "日本",
  "🚀",
  "$&",
  "\\",
  "'",
  '"',
  "%_",
  "0",
  "|",
  "e\u0301",
];
const LINE_ENDS = ["\n", "\n", "\n", "\r\n", "\r"];
const SPELLERS: readonly ((path: string) => string)[] = [
  (path) => path.replaceAll("/", "//"),
  (path) => path.replace(/\/(?=[^/]*$)/, "/./"),
  (path) => `${path}/`,
  (path) => `/.${path}`,
  (path) => path.normalize("NFD"),
];

export const propertyCases: readonly BackendCase[] = [
  {
    name: "any text that is written is read back as it was, whole and by pages",
    run: (subject) =>
      forRandom(subject.options, async (random) => {
        const text = anyText(random, 12);
        const path = await replaced(subject, text);
        same(await subject.text("any.txt"), text);
        same(shown((await succeeded(subject.backend.read(path, 0, 1_000_000))).content), shown(text));
        same(await joinedPages(subject, random.integer(1, 4)), shown(text));
      }),
  },
  {
    name: "any part of what a read displays is accepted by edit, and nothing else changes",
    run: (subject) =>
      forRandom(subject.options, async (random) => {
        const text = `${anyText(random, 8)}x`;
        const path = await replaced(subject, text);
        const { content } = await succeeded(subject.backend.read(path, 0, 1_000_000));
        const characters = [...shown(content)];
        const from = random.integer(0, characters.length - 1);
        const to = random.integer(from + 1, characters.length);
        const old = characters.slice(from, to).join("");
        const count = shown(text).split(old).length - 1;
        const result = await succeeded(
          subject.backend.edit(path, old, "\u00a7", true),
          `edit of ${show(old)}`,
        );
        same(result.occurrences, count, "occurrences");
        same(
          shown(await subject.text("any.txt")),
          shown(text).replaceAll(old, () => "\u00a7"),
        );
        keepsLineEnds(text, await subject.text("any.txt"), old);
      }),
  },
  {
    name: "an edit that is taken back leaves the bytes as they were",
    run: (subject) =>
      forRandom(subject.options, async (random) => {
        const text = `${anyText(random, 6)}unique${anyText(random, 6)}`;
        const path = await replaced(subject, text);
        const before = await subject.bytes("any.txt");
        await succeeded(subject.backend.edit(path, "unique", "other"));
        await succeeded(subject.backend.edit(path, "other", "unique"));
        same(await subject.bytes("any.txt"), before);
      }),
  },
  {
    name: "every spelling of a path leads to one file or to a typed error",
    run: (subject) =>
      forRandom(subject.options, async (random) => {
        const path = await replaced(subject, anyText(random, 2));
        const spelled = random.pick(SPELLERS)(path);
        const result = await subject.backend.read(spelled);
        if (result.error !== undefined) return same(result.code, "INVALID_PATH", show(spelled));
        same(result, await subject.backend.read(path), show(spelled));
        const written = await subject.backend.write(spelled, "x");
        ensure(written.error !== undefined, `${show(spelled)} was created beside ${show(path)}`);
      }),
  },
  {
    name: "random operations leave what a simple model of files says",
    run: (subject) =>
      forRandom({ ...subject.options, runs: subject.options.runs ?? 10 }, async (random) => {
        const model = new SuiteModel(subject, `run-${random.integer(0, 1e9)}`);
        for (let step = 0; step < 25; step++) await model.step(random);
        await model.compare();
      }),
  },
];

async function replaced(subject: BackendUnderTest, text: string): Promise<string> {
  const path = subject.at("any.txt");
  await succeeded(subject.backend.write(path, text, { overwrite: true }));
  return path;
}

function anyText(random: SuiteRandom, lines: number): string {
  const line = (): string => random.list(5, () => random.pick(PIECES)).join("");
  const text = random.list(lines, () => line() + random.pick(LINE_ENDS)).join("");
  return text + (random.chance(0.5) ? line() : "");
}

/** A page that is not the last may or may not have the line end of its last line. */
async function joinedPages(subject: BackendUnderTest, limit: number): Promise<string> {
  const pages: string[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const page: ReadPage = await succeeded(subject.backend.read(subject.at("any.txt"), offset, limit));
    const text = shown(page.content);
    const { startLine = 1, endLine = 0, nextOffset } = page;
    const open = nextOffset !== undefined && text.split("\n").length === endLine - startLine + 1;
    pages.push(open ? `${text}\n` : text);
    ensure(nextOffset === undefined || nextOffset > offset, "nextOffset does not move on");
    offset = nextOffset;
  }
  return pages.join("");
}

/** Where no line end was replaced, there are as many of each kind as before. */
function keepsLineEnds(before: string, after: string, old: string): void {
  if (old.includes("\n")) return;
  same(after.match(/\r\n?|\n/g) ?? [], before.match(/\r\n?|\n/g) ?? [], "line ends");
}
