import { ensure, same, show, succeeded } from "../suite/suite-check.ts";
import { hexOf, quote, type SandboxCase } from "./sandbox-case.ts";

const ODD_NAMES = [
  "it's.txt",
  'double "quotes".txt',
  "$(touch pwned).txt",
  "`touch pwned`.txt",
  "a;touch pwned;.txt",
  "and & pipe | star * what? [x] {y}.txt",
  "-rf",
  "--help",
  "#hash%41~.txt",
  "blank  s.txt",
  "naïve €😀.txt",
  "colon:12:name.txt",
];

const ODD_CONTENTS = [
  "",
  "no line end",
  "one\r\ntwo\r\n",
  "EOF\nEND\n'EOF'\n$HOME `x` $(x) \\n \\\\ \"'\n",
  "é€😀\n\ttab\n\n\n",
  "%s %d \\x41 -n -e\n",
];

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export const fileCases: readonly SandboxCase[] = [
  {
    name: "the file methods see what a command wrote",
    run: async (subject) => {
      await subject.output("mkdir -p deep/er && printf 'one\\nneedle\\n' > deep/er/file.txt");
      same(await subject.text("deep/er/file.txt"), "one\nneedle\n", "content");
      const { files } = await succeeded(subject.backend.ls(subject.at("deep")));
      same(
        files.map(({ path, is_dir }) => [path, is_dir]),
        [[`${subject.at("deep/er")}/`, true]],
        "ls",
      );
      const found = await succeeded(subject.backend.glob("*.txt", subject.root));
      same(
        found.files.map(({ path }) => path),
        [subject.at("deep/er/file.txt")],
        "glob",
      );
      const { matches } = await succeeded(subject.backend.grep("needle", subject.root));
      same(matches, [{ path: subject.at("deep/er/file.txt"), line: 2, text: "needle" }], "grep");
    },
  },
  {
    name: "a command sees what was written, edited and deleted",
    run: async (subject) => {
      await subject.write("dir/file.txt", "one\ntwo\n");
      same(await subject.output("cat dir/file.txt"), "one\ntwo\n");
      await succeeded(subject.backend.edit(subject.at("dir/file.txt"), "two", "2"), "edit");
      same(await subject.output("cat dir/file.txt"), "one\n2\n");
      if (!subject.backend.delete) return;
      await succeeded(subject.backend.delete(subject.at("dir/file.txt")), "delete");
      same((await subject.run("cat dir/file.txt")).exitCode, 1, "exit code of cat");
    },
  },
  {
    name: "a change by a command is seen by the next read",
    run: async (subject) => {
      await subject.write("file.txt", "before\n");
      same(await subject.text("file.txt"), "before\n");
      await subject.output("echo after > file.txt");
      same(await subject.text("file.txt"), "after\n");
      await subject.output("rm file.txt");
      ensure(!(await subject.isThere("file.txt")), "the file is still there");
    },
  },
  ...ODD_NAMES.map(
    (name): SandboxCase => ({
      name: `the name ${show(name)} is data`,
      run: async (subject) => {
        await subject.write(name, "needle 1\n");
        same(await subject.output(`cat ${quote(`./${name}`)}`), "needle 1\n", "what a command reads");
        await succeeded(subject.backend.edit(subject.at(name), "1", "2"), "edit");
        same(await subject.text(name), "needle 2\n", "content");
        const { matches } = await succeeded(subject.backend.grep("needle", subject.root));
        same(
          matches.map(({ path }) => path),
          [subject.at(name)],
          "grep",
        );
        const { files } = await succeeded(subject.backend.ls(subject.root));
        same(
          files.map(({ path }) => path),
          [subject.at(name)],
          "ls",
        );
      },
    }),
  ),
  {
    name: "a name with a line break does not pretend to be two",
    run: async (subject) => {
      await subject.output("echo needle > 'odd\nfake.txt'; echo needle > plain.txt");
      const { files } = await succeeded(subject.backend.ls(subject.root));
      const names = files.map(({ path }) => path);
      ensure(names.includes(subject.at("plain.txt")), `plain.txt is missing in ${show(names)}`);
      ensure(!names.some((path) => path.endsWith("/fake.txt")), `${show(names)} has a name that is none`);
      const { matches } = await succeeded(subject.backend.grep("needle", subject.root));
      const found = matches.map(({ path }) => path);
      ensure(found.includes(subject.at("plain.txt")), `plain.txt is missing in ${show(found)}`);
      ensure(!found.some((path) => path.endsWith("/fake.txt")), `${show(found)} has a name that is none`);
    },
  },
  {
    name: "content arrives byte for byte",
    run: async (subject) => {
      for (const [index, content] of ODD_CONTENTS.entries()) {
        await subject.write(`${index}.txt`, content);
        same(await subject.hex(`${index}.txt`), hexOf(utf8(content)), `bytes of ${show(content)}`);
      }
    },
  },
  {
    name: "content of 3 MB is no matter of the length of a command",
    run: async (subject) => {
      await subject.write("long.txt", "0123456789abcde\n".repeat(200_000));
      same((await subject.output("wc -c < long.txt")).trim(), "3200000", "bytes");
    },
  },
  {
    name: "bytes that are uploaded and downloaded are those a command sees",
    run: async (subject) => {
      const { backend } = subject;
      if (!backend.uploadFiles || !backend.downloadFiles) return;
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const [up] = await backend.uploadFiles([[subject.at("all.bin"), bytes]]);
      same(up?.error, null, "upload");
      same(await subject.hex("all.bin"), hexOf(bytes), "bytes");
      await subject.output("cat all.bin all.bin > twice.bin");
      const [down] = await backend.downloadFiles([subject.at("twice.bin")]);
      same(down?.content && Uint8Array.from(down.content), Uint8Array.of(...bytes, ...bytes), "download");
    },
  },
  {
    name: "an edit leaves a program a program",
    run: async (subject) => {
      await subject.write("run.sh", "#!/bin/sh\necho one\n");
      await subject.output("chmod 755 run.sh");
      await succeeded(subject.backend.edit(subject.at("run.sh"), "one", "two"), "edit");
      same(await subject.output("./run.sh"), "two\n");
    },
  },
];
