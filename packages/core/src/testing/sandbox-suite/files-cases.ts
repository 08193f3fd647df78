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
    run: async (place) => {
      await place.output("mkdir -p deep/er && printf 'one\\nneedle\\n' > deep/er/file.txt");
      same(await place.text("deep/er/file.txt"), "one\nneedle\n", "content");
      const { files } = await succeeded(place.backend.ls(place.at("deep")));
      same(
        files.map(({ path, is_dir }) => [path, is_dir]),
        [[`${place.at("deep/er")}/`, true]],
        "ls",
      );
      const found = await succeeded(place.backend.glob("*.txt", place.root));
      same(
        found.files.map(({ path }) => path),
        [place.at("deep/er/file.txt")],
        "glob",
      );
      const { matches } = await succeeded(place.backend.grep("needle", place.root));
      same(matches, [{ path: place.at("deep/er/file.txt"), line: 2, text: "needle" }], "grep");
    },
  },
  {
    name: "a command sees what was written, edited and deleted",
    run: async (place) => {
      await place.write("dir/file.txt", "one\ntwo\n");
      same(await place.output("cat dir/file.txt"), "one\ntwo\n");
      await succeeded(place.backend.edit(place.at("dir/file.txt"), "two", "2"), "edit");
      same(await place.output("cat dir/file.txt"), "one\n2\n");
      if (!place.backend.delete) return;
      await succeeded(place.backend.delete(place.at("dir/file.txt")), "delete");
      same((await place.run("cat dir/file.txt")).exitCode, 1, "exit code of cat");
    },
  },
  {
    name: "a change by a command is seen by the next read",
    run: async (place) => {
      await place.write("file.txt", "before\n");
      same(await place.text("file.txt"), "before\n");
      await place.output("echo after > file.txt");
      same(await place.text("file.txt"), "after\n");
      await place.output("rm file.txt");
      ensure(!(await place.isThere("file.txt")), "the file is still there");
    },
  },
  ...ODD_NAMES.map(
    (name): SandboxCase => ({
      name: `the name ${show(name)} is data`,
      run: async (place) => {
        await place.write(name, "needle 1\n");
        same(await place.output(`cat ${quote(`./${name}`)}`), "needle 1\n", "what a command reads");
        await succeeded(place.backend.edit(place.at(name), "1", "2"), "edit");
        same(await place.text(name), "needle 2\n", "content");
        const { matches } = await succeeded(place.backend.grep("needle", place.root));
        same(
          matches.map(({ path }) => path),
          [place.at(name)],
          "grep",
        );
        const { files } = await succeeded(place.backend.ls(place.root));
        same(
          files.map(({ path }) => path),
          [place.at(name)],
          "ls",
        );
      },
    }),
  ),
  {
    name: "a name with a line break does not pretend to be two",
    run: async (place) => {
      await place.output("echo needle > 'odd\nfake.txt'; echo needle > plain.txt");
      const { files } = await succeeded(place.backend.ls(place.root));
      const names = files.map(({ path }) => path);
      ensure(names.includes(place.at("plain.txt")), `plain.txt is missing in ${show(names)}`);
      ensure(!names.some((path) => path.endsWith("/fake.txt")), `${show(names)} has a name that is none`);
      const { matches } = await succeeded(place.backend.grep("needle", place.root));
      const found = matches.map(({ path }) => path);
      ensure(found.includes(place.at("plain.txt")), `plain.txt is missing in ${show(found)}`);
      ensure(!found.some((path) => path.endsWith("/fake.txt")), `${show(found)} has a name that is none`);
    },
  },
  {
    name: "content arrives byte for byte",
    run: async (place) => {
      for (const [index, content] of ODD_CONTENTS.entries()) {
        await place.write(`${index}.txt`, content);
        same(await place.hex(`${index}.txt`), hexOf(utf8(content)), `bytes of ${show(content)}`);
      }
    },
  },
  {
    name: "content of 3 MB is no matter of the length of a command",
    run: async (place) => {
      await place.write("long.txt", "0123456789abcde\n".repeat(200_000));
      same((await place.output("wc -c < long.txt")).trim(), "3200000", "bytes");
    },
  },
  {
    name: "bytes that are uploaded and downloaded are those a command sees",
    run: async (place) => {
      const { backend } = place;
      if (!backend.uploadFiles || !backend.downloadFiles) return;
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const [up] = await backend.uploadFiles([[place.at("all.bin"), bytes]]);
      same(up?.error, null, "upload");
      same(await place.hex("all.bin"), hexOf(bytes), "bytes");
      await place.output("cat all.bin all.bin > twice.bin");
      const [down] = await backend.downloadFiles([place.at("twice.bin")]);
      same(down?.content && Uint8Array.from(down.content), Uint8Array.of(...bytes, ...bytes), "download");
    },
  },
  {
    name: "an edit leaves a program a program",
    run: async (place) => {
      await place.write("run.sh", "#!/bin/sh\necho one\n");
      await place.output("chmod 755 run.sh");
      await succeeded(place.backend.edit(place.at("run.sh"), "one", "two"), "edit");
      same(await place.output("./run.sh"), "two\n");
    },
  },
];
