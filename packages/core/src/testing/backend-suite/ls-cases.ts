import { ensure, refused, same, show, succeeded } from "../suite/suite-check.ts";
import type { BackendCase } from "./backend-case.ts";
import { utf8 } from "./backend-case.ts";

/** In the order of their code units, which is neither that of UTF-8 bytes nor that of a language. */
const SORTED_NAMES = [
  "A.txt",
  "B.txt",
  "_.txt",
  "a-b",
  "a.txt",
  "a/",
  "a0",
  "é.txt",
  "\u{1f600}.txt",
  "～.txt",
];

export const lsCases: readonly BackendCase[] = [
  {
    name: "lists what lies directly in a directory, and each directory in it once",
    run: async (subject) => {
      await subject.fill({
        "top.txt": "1",
        "dir/one.txt": "1",
        "dir/two.txt": "2",
        "dir/deep/er/three.txt": "3",
      });
      same(await subject.names(), ["dir/", "top.txt"]);
      same(await subject.names("dir"), ["deep/", "one.txt", "two.txt"]);
    },
  },
  {
    name: "says of each entry whether it is a directory; a directory has a slash at its end",
    run: async (subject) => {
      await subject.fill({ "file.txt": "1", "dir/one.txt": "1" });
      const { files } = await succeeded(subject.backend.ls(subject.at("")));
      same(
        files.map(({ path, is_dir }) => [path, is_dir ?? false]),
        [
          [`${subject.at("dir")}/`, true],
          [subject.at("file.txt"), false],
        ],
      );
    },
  },
  {
    name: "entries are sorted by the code units of their paths",
    run: async (subject) => {
      for (const name of SORTED_NAMES.toReversed())
        await subject.write(name.endsWith("/") ? `${name}file` : name, "1");
      same(await subject.names(), SORTED_NAMES);
    },
  },
  {
    name: "names that begin with a dot are listed",
    run: async (subject) => {
      await subject.fill({ ".hidden": "1", ".dir/file": "1", seen: "1" });
      same(await subject.names(), [".dir/", ".hidden", "seen"]);
    },
  },
  {
    name: "a directory whose name begins like another's does not show what is in that one",
    run: async (subject) => {
      await subject.fill({ "dir/in.txt": "1", "dir2/out.txt": "1", "dir-old/out.txt": "1", "dir.txt": "1" });
      same(await subject.names("dir"), ["in.txt"]);
    },
  },
  {
    name: "a name that is a wildcard elsewhere stands for itself",
    run: async (subject) => {
      await subject.fill({ "100%/in.txt": "1", "100x/out.txt": "1", "a_b/in.txt": "1", "axb/out.txt": "1" });
      same(await subject.names("100%"), ["in.txt"]);
      same(await subject.names("a_b"), ["in.txt"]);
    },
  },
  {
    name: "ls of a directory that is not there is empty or FILE_NOT_FOUND",
    run: async (subject) => {
      await subject.write("here.txt", "1");
      const result = await subject.backend.ls(subject.at("nowhere"));
      if (result.error === undefined && !subject.options.keepsEmptyDirectories) same(result.files, []);
      else await refused(result, "FILE_NOT_FOUND");
    },
  },
  {
    name: "ls of a file is NOT_A_DIRECTORY",
    run: async (subject) => {
      await subject.write("file.txt", "1");
      await refused(subject.backend.ls(subject.at("file.txt")), "NOT_A_DIRECTORY");
    },
  },
  {
    name: "ls of an empty root is an empty list",
    run: async (subject) => {
      const result = await subject.backend.ls(subject.root);
      if (subject.root === "/") ensure(result.error === undefined, `ls / failed: ${show(result)}`);
      same(result.files ?? [], []);
    },
  },
  {
    name: "a size, where one is given, counts bytes",
    run: async (subject) => {
      await subject.fill({ "empty.txt": "", "text.txt": "naïve €" });
      const { files } = await succeeded(subject.backend.ls(subject.at("")));
      const sizes = files.map(({ size }) => size);
      const bytes = [0, utf8("naïve €").length];
      for (const [index, size] of sizes.entries())
        ensure(size === undefined || size === bytes[index], show(files));
    },
  },
  {
    name: "a time, where one is given, is ISO 8601 and about now",
    run: async (subject) => {
      await subject.write("now.txt", "1");
      const { files } = await succeeded(subject.backend.ls(subject.at("")));
      const time = files[0]?.modified_at;
      if (time === undefined) return;
      ensure(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(time), `not ISO 8601: ${show(time)}`);
      ensure(Math.abs(Date.parse(time) - Date.now()) < 3_600_000, `not about now: ${show(time)}`);
    },
  },
  {
    name: "a file is listed once it was written, and no more once it was deleted",
    needs: ["delete"],
    run: async (subject) => {
      await subject.fill({ "dir/one.txt": "1", "dir/two.txt": "1" });
      await succeeded(subject.backend.delete?.(subject.at("dir/one.txt")) ?? { error: "no delete" });
      same(await subject.names("dir"), ["two.txt"]);
    },
  },
  {
    name: "lists hundreds of entries, all of them",
    needs: ["upload"],
    run: async (subject) => {
      const names = Array.from({ length: 1_200 }, (_, index) => `file-${String(index).padStart(5, "0")}.txt`);
      await subject.backend.uploadFiles?.(
        names.map((name) => [subject.at(`many/${name}`), utf8("1")] as const),
      );
      same(await subject.names("many"), names);
    },
  },
];
