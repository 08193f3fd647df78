import { ensure, refused, same, show, succeeded } from "../suite/suite-check.ts";
import { pause, type SandboxCase, type SandboxUnderTest } from "./sandbox-case.ts";

const BINARY_BYTES = 5_000_000;
const LINES = 400_000;
const COMMANDS = 30;

/** All values of a byte in no order, and no part like another: what is lost, doubled or exchanged shows. */
function noise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = 0x9e3779b9;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

/** 10 MB. */
function numberedLines(): string {
  return Array.from({ length: LINES }, (_, n) => `line ${n} of a long file\n`).join("");
}

export const loadCases: readonly SandboxCase[] = [
  {
    name: "5 MB of bytes of every value arrive, and twice as many come back",
    run: async (subject) => {
      const { backend } = subject;
      if (!backend.uploadFiles || !backend.downloadFiles) return;
      const bytes = noise(BINARY_BYTES);
      const [up] = await backend.uploadFiles([[subject.at("noise.bin"), bytes]]);
      same(up?.error, null, "upload");
      await subject.output("cat noise.bin noise.bin > twice.bin");
      const [down] = await backend.downloadFiles([subject.at("twice.bin")]);
      same(down?.error, null, "download");
      same(down?.content?.length, 2 * BINARY_BYTES, "bytes downloaded");
      for (const [name, start] of [["first", 0] as const, ["second", BINARY_BYTES] as const])
        ensure(
          isEqual(down?.content?.subarray(start, start + BINARY_BYTES), bytes),
          `the ${name} half differs`,
        );
    },
  },
  {
    name: "10 MB of text are written, and read in pages",
    run: async (subject) => {
      await subject.write("long.txt", numberedLines());
      same((await subject.output("wc -l < long.txt")).trim(), String(LINES), "lines a command counts");
      for (const offset of [0, LINES / 2, LINES - 3]) {
        const page = await succeeded(subject.backend.read(subject.at("long.txt"), offset, 3), "read");
        const lines = String(page.content).split("\n").slice(0, 3);
        same(
          lines,
          [0, 1, 2].map((n) => `line ${offset + n} of a long file`),
          `lines from ${offset}`,
        );
      }
      const { matches } = await succeeded(subject.backend.grep(`line ${LINES - 1} of`, subject.root), "grep");
      ensure(matches.length <= 1, `expected one line or a file that is skipped, got ${matches.length} lines`);
    },
  },
  {
    name: "a long text is edited in its middle, and the rest stays",
    run: async (subject) => {
      const text = numberedLines().slice(0, 1_000_000);
      await subject.write("long.txt", text);
      await succeeded(subject.backend.edit(subject.at("long.txt"), "line 20000 of", "LINE 20000 OF"), "edit");
      ensure(
        (await subject.text("long.txt")) === text.replace("line 20000 of", "LINE 20000 OF"),
        "it differs",
      );
    },
  },
  {
    name: "files written, edited and read at the same time do not get in each other's way",
    run: async (subject) => {
      const names = Array.from({ length: 10 }, (_, n) => `dir-${n % 3}/file-${n}.txt`);
      await Promise.all(names.map((name) => subject.write(name, `this is ${name}\nold\n`)));
      await Promise.all(
        names.map((name) =>
          succeeded(subject.backend.edit(subject.at(name), "old", "new"), `edit of ${name}`),
        ),
      );
      const texts = await Promise.all(names.map((name) => subject.text(name)));
      same(
        texts,
        names.map((name) => `this is ${name}\nnew\n`),
        "contents",
      );
    },
  },
  {
    name: "of edits of one file at the same time each lands or is told that it did not",
    run: async (subject) => {
      const words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];
      await subject.write("shared.txt", `${words.join("\n")}\n`);
      const results = await Promise.all(
        words.map((word) => subject.backend.edit(subject.at("shared.txt"), word, word.toUpperCase())),
      );
      const landed = words.filter((_, index) => results[index]?.error === undefined);
      ensure(landed.length > 0, `none landed: ${show(results)}`);
      const expected = words.map((word) => (landed.includes(word) ? word.toUpperCase() : word));
      same(await subject.text("shared.txt"), `${expected.join("\n")}\n`, "content after the edits");
    },
  },
  {
    name: "of those who create one file at the same time one wins, and the others are told",
    run: async (subject) => {
      const texts = ["one\n", "two\n", "three\n", "four\n"];
      const results = await Promise.all(
        texts.map((text) => subject.backend.write(subject.at("only.txt"), text)),
      );
      const winners = texts.filter((_, index) => results[index]?.error === undefined);
      same(winners.length, 1, "how many won");
      for (const result of results) if (result.error !== undefined) await refused(result, "FILE_EXISTS");
      same(await subject.text("only.txt"), winners[0], "content");
    },
  },
  {
    name: "lines appended at the same time are all there, and whole",
    run: async (subject) => {
      const { backend } = subject;
      if (!backend.append) return;
      const lines = Array.from({ length: 8 }, (_, n) => `${String(n).repeat(200)}\n`);
      await subject.write("log.txt", "");
      await Promise.all(
        lines.map((line) => succeeded(backend.append?.(subject.at("log.txt"), line) ?? {}, "append")),
      );
      same((await subject.text("log.txt")).split(/(?<=\n)/).sort(), lines, "lines");
    },
  },
  {
    name: "commands with much output at the same time keep it apart",
    run: async (subject) => {
      const letters = [..."abcd"];
      const responses = await Promise.all(
        letters.map((letter) => subject.run(`yes ${letter.repeat(20)} | head -n 3000; echo end ${letter}`)),
      );
      for (const [index, { output, exitCode }] of responses.entries()) {
        const letter = letters[index] as string;
        same(exitCode, 0, "exit code");
        ensure(output.startsWith(letter.repeat(20)), `expected ${letter}, got ${show(output.slice(0, 40))}`);
        ensure(output.endsWith(`end ${letter}\n`), `expected the end, got ${show(output.slice(-40))}`);
        for (const other of letters)
          ensure(
            other === letter || !output.includes(other.repeat(20)),
            `${other} is in the output of ${letter}`,
          );
      }
    },
  },
  {
    name: "commands and file operations at the same time all get their own answer",
    run: async (subject) => {
      await subject.write("file.txt", "content\n");
      const numbers = [1, 2, 3, 4];
      const [outputs, texts, listed] = await Promise.all([
        Promise.all(numbers.map((n) => subject.output(`sleep 0.2; echo ${n}`))),
        Promise.all(numbers.map(() => subject.text("file.txt"))),
        succeeded(subject.backend.ls(subject.root), "ls"),
      ]);
      same(outputs, ["1\n", "2\n", "3\n", "4\n"], "outputs");
      same(texts, Array(4).fill("content\n"), "contents");
      same(
        listed.files.map(({ path }) => path),
        [subject.at("file.txt")],
        "ls",
      );
    },
  },
  {
    name: "many small commands one after the other leave no process behind",
    run: async (subject) => {
      const word = await smallCommands(subject);
      // Written so that the search does not find itself.
      const pattern = `[${word[0]}]${word.slice(1)}`;
      const search = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\000' '\\n'";
      const left = async (): Promise<number> =>
        Number(await subject.output(`${search} | grep -c '${pattern}' || true`));
      const end = Date.now() + subject.slackSeconds * 1000;
      while ((await left()) !== 0) {
        ensure(Date.now() < end, "processes of those commands are still there");
        await pause(100);
      }
    },
  },
  {
    name: "many small commands one after the other leave no file behind",
    run: async (subject) => {
      const count = async (): Promise<number> =>
        Number(await subject.output('[ -n "$TMPDIR" ] || TMPDIR=/tmp; ls -A . "$TMPDIR" | wc -l'));
      const before = await count();
      await smallCommands(subject);
      const more = (await count()) - before;
      ensure(more < COMMANDS, `${more} more files after ${COMMANDS} commands`);
    },
  },
  {
    name: "file operations leave nothing but the files",
    run: async (subject) => {
      for (const n of [1, 2, 3]) {
        await subject.write(`${n}.txt`, `one ${n}\n`);
        await succeeded(subject.backend.edit(subject.at(`${n}.txt`), "one", "two"), "edit");
        await subject.backend.edit(subject.at(`${n}.txt`), "missing", "x");
        await subject.backend.write(subject.at(`${n}.txt`), "again");
      }
      same(await subject.output("ls -A"), "1.txt\n2.txt\n3.txt\n", "what is there");
    },
  },
];

/** Runs them; the word each of them has in it. */
async function smallCommands(subject: SandboxUnderTest): Promise<string> {
  const word = `dwsx${Math.random().toString(36).slice(2, 12)}`;
  for (let n = 0; n < COMMANDS; n++) same(await subject.output(`: ${word}\necho ${n}`), `${n}\n`, "output");
  return word;
}

function isEqual(actual: Uint8Array | undefined, expected: Uint8Array): boolean {
  if (actual?.length !== expected.length) return false;
  for (let index = 0; index < expected.length; index++) if (actual[index] !== expected[index]) return false;
  return true;
}
