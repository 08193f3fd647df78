import { ensure, refused, same, show, succeeded } from "../suite/suite-check.ts";
import type { BackendCase, BackendUnderTest } from "./backend-case.ts";
import { utf8 } from "./backend-case.ts";

const CREATORS = 16;

const KEPT: readonly (readonly [name: string, text: string])[] = [
  ["no final line end", "a\nb"],
  ["CRLF line ends", "a\r\nb\r\n"],
  ["CR line ends", "a\rb\r"],
  ["mixed line ends", "a\nb\r\nc\rd"],
  ["tabs and spaces at the ends of lines", "\ta \n  \n b\t\n"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text to keep
  ["text that looks like an escape", "\\n %s ${x} $(x) `x` 'x' \"x\" $& \\u0041 %20\n"],
  ["a line that ends a here-document or a boundary", "EOF\n--boundary\n.\n\n"],
];

const writeCases: readonly BackendCase[] = [
  {
    name: "write creates a file, and the directories it lies in",
    run: async (subject) => {
      const path = subject.at("a/b/c.txt");
      const result = await succeeded(subject.backend.write(path, "text\n"));
      same(result.path, path);
      same(await subject.text("a/b/c.txt"), "text\n");
    },
  },
  {
    name: "write to a file that exists is FILE_EXISTS, and changes nothing",
    run: async (subject) => {
      await subject.write("file.txt", "first\n");
      const path = subject.at("file.txt");
      const { error } = await refused(subject.backend.write(path, "second\n"), "FILE_EXISTS");
      ensure(error.startsWith(`Cannot write to ${path} because it already exists`), `words: ${show(error)}`);
      same(await subject.text("file.txt"), "first\n");
    },
  },
  {
    name: "of many concurrent creators exactly one succeeds, and its text is what is there",
    run: async (subject) => {
      const path = subject.at("contested.txt");
      const results = await Promise.all(
        Array.from({ length: CREATORS }, (_, index) => subject.backend.write(path, `creator ${index}\n`)),
      );
      const winners = results.flatMap((result, index) => (result.error === undefined ? [index] : []));
      same(winners.length, 1, "creators that succeeded");
      for (const result of results)
        if (result.error !== undefined) await refused(result, ["FILE_EXISTS", "CONFLICT"]);
      same(await subject.text("contested.txt"), `creator ${winners[0]}\n`);
    },
  },
  {
    name: "overwrite replaces a file, and creates one where there is none",
    run: async (subject) => {
      await subject.write("old.txt", "a much longer text than the new one\n");
      await succeeded(subject.backend.write(subject.at("old.txt"), "new\n", { overwrite: true }));
      await succeeded(subject.backend.write(subject.at("fresh.txt"), "fresh\n", { overwrite: true }));
      same([await subject.text("old.txt"), await subject.text("fresh.txt")], ["new\n", "fresh\n"]);
    },
  },
  {
    name: "a reader beside writers never sees a torn file",
    run: async (subject) => {
      const texts = ["a".repeat(20_000), "b".repeat(30_000)];
      await subject.write("torn.txt", texts[0] as string);
      const writing = Array.from({ length: 6 }, (_, index) =>
        subject.backend.write(subject.at("torn.txt"), texts[index % 2] as string, { overwrite: true }),
      );
      const reading = Array.from({ length: 12 }, () => subject.text("torn.txt"));
      for (const text of await Promise.all(reading))
        ensure(texts.includes(text), `torn: ${show(text.length)}`);
      for (const result of await Promise.all(writing)) await succeeded(result);
    },
  },
  {
    name: "write where a directory is, is IS_DIRECTORY, with overwrite too",
    run: async (subject) => {
      await subject.write("dir/file.txt", "1");
      await refused(subject.backend.write(subject.at("dir"), "x"), ["IS_DIRECTORY", "FILE_EXISTS"]);
      await refused(subject.backend.write(subject.at("dir"), "x", { overwrite: true }), "IS_DIRECTORY");
      same(await subject.text("dir/file.txt"), "1");
    },
  },
  {
    name: "write below a file is NOT_A_DIRECTORY",
    run: async (subject) => {
      await subject.write("file.txt", "1");
      await refused(subject.backend.write(subject.at("file.txt/below.txt"), "x"), "NOT_A_DIRECTORY");
      await refused(subject.backend.write(subject.at("file.txt/far/below.txt"), "x"), "NOT_A_DIRECTORY");
      same(await subject.text("file.txt"), "1");
    },
  },
  {
    name: "an empty file can be written, and is there",
    run: async (subject) => {
      await subject.write("empty.txt", "");
      same(await subject.names(), ["empty.txt"]);
      await refused(subject.backend.write(subject.at("empty.txt"), "x"), "FILE_EXISTS");
    },
  },
  ...KEPT.map(
    ([name, text]): BackendCase => ({
      name: `what is written is stored byte for byte: ${name}`,
      run: async (subject) => {
        await subject.write("kept.txt", text);
        same(await subject.text("kept.txt"), text);
        same(await subject.bytes("kept.txt"), utf8(text));
      },
    }),
  ),
  {
    name: "a byte order mark that was written is stored",
    run: async (subject) => {
      await subject.write("mark.txt", "\ufefftext\n");
      same(await subject.bytes("mark.txt"), utf8("\ufefftext\n"));
    },
  },
  {
    name: "a text of a million characters is stored",
    run: async (subject) => {
      const text = `${"0123456789 abcdefgh é\n".repeat(50_000)}end`;
      await subject.write("large.txt", text);
      ensure((await subject.text("large.txt")) === text, "the text came back changed");
    },
  },
];

const appendCases: readonly BackendCase[] = [
  {
    name: "append creates a file, then adds to its end",
    needs: ["append"],
    run: async (subject) => {
      await append(subject, "log/today.txt", "one\n");
      await append(subject, "log/today.txt", "two");
      await append(subject, "log/today.txt", " é\r\n");
      same(await subject.text("log/today.txt"), "one\ntwo é\r\n");
    },
  },
  {
    name: "parallel appends all land, each in one piece",
    needs: ["append"],
    run: async (subject) => {
      const lines = Array.from({ length: 20 }, (_, index) => `line ${index}\n`);
      await subject.write("log.txt", "");
      await Promise.all(lines.map((line) => append(subject, "log.txt", line)));
      const text = await subject.text("log.txt");
      same(text.split(/(?<=\n)/).toSorted(), lines.toSorted());
    },
  },
  {
    name: "append to a directory is IS_DIRECTORY, below a file NOT_A_DIRECTORY",
    needs: ["append"],
    run: async (subject) => {
      await subject.write("dir/file.txt", "1");
      await refused(subject.backend.append?.(subject.at("dir"), "x") ?? {}, "IS_DIRECTORY");
      await refused(subject.backend.append?.(subject.at("dir/file.txt/x"), "x") ?? {}, "NOT_A_DIRECTORY");
    },
  },
  {
    name: "append to a file that is not text is NOT_TEXT",
    needs: ["append", "bytes"],
    run: async (subject) => {
      const bytes = Uint8Array.of(0, 1, 2, 255, 0, 254);
      await subject.put("data.bin", bytes);
      await refused(subject.backend.append?.(subject.at("data.bin"), "x") ?? {}, "NOT_TEXT");
      same(await subject.bytes("data.bin"), bytes);
    },
  },
];

const deleteCases: readonly BackendCase[] = [
  {
    name: "delete removes a file",
    needs: ["delete"],
    run: async (subject) => {
      await subject.fill({ "gone.txt": "1", "kept.txt": "1" });
      const result = await succeeded(remove(subject, "gone.txt"));
      same(result.path, subject.at("gone.txt"));
      same(await subject.names(), ["kept.txt"]);
      await refused(subject.backend.read(subject.at("gone.txt")), "FILE_NOT_FOUND");
    },
  },
  {
    name: "delete of a directory takes all that lies in it, and nothing whose name only begins alike",
    needs: ["delete"],
    run: async (subject) => {
      await subject.fill({
        "a_b/1": "",
        "a_b/deep/2": "",
        "a_b2/3": "",
        "axb/4": "",
        "a_b.txt": "",
        "z/5": "",
      });
      await succeeded(remove(subject, "a_b"));
      same(await subject.glob("**"), ["a_b.txt", "a_b2/3", "axb/4", "z/5"]);
    },
  },
  {
    name: "FS-23 delete of what is not there is FILE_NOT_FOUND",
    needs: ["delete"],
    run: async (subject) => {
      const { error } = await refused(remove(subject, "none.txt"), "FILE_NOT_FOUND");
      same(error, `File '${subject.at("none.txt")}' not found`);
    },
  },
  {
    name: "FS-23 the root cannot be deleted",
    needs: ["delete"],
    run: async (subject) => {
      if (subject.root !== "/") return;
      await subject.write("kept.txt", "1");
      const result = await subject.backend.delete?.("/");
      ensure(typeof result?.error === "string" && result.code, `delete of /: ${show(result)}`);
      same(await subject.text("kept.txt"), "1");
    },
  },
  {
    name: "what was deleted can be created again, and is new",
    needs: ["delete"],
    run: async (subject) => {
      await subject.write("again.txt", "first\n");
      await succeeded(remove(subject, "again.txt"));
      await subject.write("again.txt", "second\n");
      same(await subject.text("again.txt"), "second\n");
    },
  },
  {
    name: "where a directory was deleted a file can be, and the other way round",
    needs: ["delete"],
    run: async (subject) => {
      await subject.write("name/file.txt", "1");
      await succeeded(remove(subject, "name"));
      await subject.write("name", "a file\n");
      await succeeded(remove(subject, "name"));
      await subject.write("name/file.txt", "2");
      same(await subject.text("name/file.txt"), "2");
    },
  },
  {
    name: "of concurrent deletes of one file exactly one succeeds, or all do",
    needs: ["delete"],
    run: async (subject) => {
      await subject.write("once.txt", "1");
      const results = await Promise.all(Array.from({ length: 4 }, () => remove(subject, "once.txt")));
      for (const result of results)
        if (result.error !== undefined) await refused(result, ["FILE_NOT_FOUND", "CONFLICT"]);
      ensure(
        results.some(({ error }) => error === undefined),
        "none succeeded",
      );
      same(await subject.isThere("once.txt"), false);
    },
  },
];

export const changeCases: readonly BackendCase[] = [...writeCases, ...appendCases, ...deleteCases];

async function append(subject: BackendUnderTest, name: string, text: string): Promise<void> {
  await succeeded(
    subject.backend.append?.(subject.at(name), text) ?? { error: "no append" },
    `append to ${name}`,
  );
}

async function remove(subject: BackendUnderTest, name: string) {
  ensure(subject.backend.delete, "no delete");
  return subject.backend.delete(subject.at(name));
}
