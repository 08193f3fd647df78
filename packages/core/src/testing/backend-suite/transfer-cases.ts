import type { FileDownloadResponse, FileUploadResponse } from "../../backends/backend.ts";
import { ensure, same, show, succeeded } from "../suite/suite-check.ts";
import type { BackendCase, BackendUnderTest } from "./backend-case.ts";
import { utf8 } from "./backend-case.ts";

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, index) => index);

export const transferCases: readonly BackendCase[] = [
  {
    name: "uploads several files and answers in the order they came",
    needs: ["upload"],
    run: async (subject) => {
      const names = ["z.txt", "a/b.txt", "m.txt"];
      same(
        await upload(
          subject,
          names.map((name) => [name, utf8(`${name}\n`)]),
        ),
        names.map((name) => answer(subject, name)),
      );
      for (const name of names) same(await subject.text(name), `${name}\n`);
    },
  },
  {
    name: "an upload replaces what is there",
    needs: ["upload"],
    run: async (subject) => {
      await subject.write("file.txt", "a long first text\n");
      await upload(subject, [["file.txt", utf8("second\n")]]);
      same(await subject.text("file.txt"), "second\n");
    },
  },
  {
    name: "of several uploads those that can be stored are, and each of the others says why not",
    needs: ["upload"],
    run: async (subject) => {
      await subject.fill({ "dir/file.txt": "1" });
      const responses = await upload(subject, [
        ["good.txt", utf8("1\n")],
        ["dir", utf8("x")],
        ["dir/file.txt/below.txt", utf8("x")],
        ["nul\0.txt", utf8("x")],
        ["also-good.txt", utf8("2\n")],
      ]);
      same(
        responses.map(({ error }) => error),
        [null, "is_directory", "parent_not_found", "invalid_path", null],
      );
      same([await subject.text("good.txt"), await subject.text("also-good.txt")], ["1\n", "2\n"]);
      same(await subject.text("dir/file.txt"), "1");
    },
  },
  {
    name: "no file at all is no answer at all",
    needs: ["upload", "download"],
    run: async (subject) => {
      same([...(await upload(subject, []))], []);
      same(await download(subject, []), []);
    },
  },
  {
    name: "downloads the bytes, in the order they were asked for, and says of each other file why not",
    needs: ["upload", "download"],
    run: async (subject) => {
      await upload(subject, [
        ["a.txt", utf8("é\n")],
        ["dir/b.txt", utf8("b")],
      ]);
      same(await download(subject, ["dir/b.txt", "none.txt", "dir", "a.txt", "nul\0.txt"]), [
        { path: subject.at("dir/b.txt"), content: utf8("b"), error: null },
        { path: subject.at("none.txt"), content: null, error: "file_not_found" },
        { path: subject.at("dir"), content: null, error: "is_directory" },
        { path: subject.at("a.txt"), content: utf8("é\n"), error: null },
        { path: subject.at("nul\0.txt"), content: null, error: "invalid_path" },
      ]);
    },
  },
  {
    name: "a file asked for twice comes twice",
    needs: ["upload", "download"],
    run: async (subject) => {
      await upload(subject, [["a.txt", utf8("a")]]);
      same(
        (await download(subject, ["a.txt", "a.txt"])).map(({ content }) => content),
        [utf8("a"), utf8("a")],
      );
    },
  },
  {
    name: "every byte comes back",
    needs: ["upload", "download", "bytes"],
    run: async (subject) => {
      const large = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 7919 + (index >> 8)) & 0xff);
      for (const bytes of [ALL_BYTES, large, Uint8Array.of(0), Uint8Array.of(0xff, 0xfe), new Uint8Array()]) {
        await upload(subject, [["data.bin", bytes]]);
        const [response] = await download(subject, ["data.bin"]);
        ensure(response?.content, `no content: ${show(response)}`);
        same(Uint8Array.from(response.content), bytes);
      }
    },
  },
  {
    name: "text with a byte order mark and odd line ends comes back byte for byte",
    needs: ["upload", "download"],
    run: async (subject) => {
      const bytes = utf8("\ufeffa\r\nb\rc\n\n");
      await upload(subject, [["text.txt", bytes]]);
      same((await download(subject, ["text.txt"]))[0]?.content, bytes);
    },
  },
  {
    name: "what was written downloads as UTF-8, and what was uploaded can be edited",
    needs: ["upload", "download"],
    run: async (subject) => {
      await subject.write("written.txt", "é €\n");
      same((await download(subject, ["written.txt"]))[0]?.content, utf8("é €\n"));
      await upload(subject, [["uploaded.txt", utf8("é €\n")]]);
      await succeeded(subject.backend.edit(subject.at("uploaded.txt"), "€", "$"));
      same((await download(subject, ["uploaded.txt"]))[0]?.content, utf8("é $\n"));
    },
  },
  {
    name: "bytes that change after the upload do not change the file",
    needs: ["upload", "download"],
    run: async (subject) => {
      const bytes = utf8("first\n");
      await upload(subject, [["file.txt", bytes]]);
      bytes.fill(120);
      same((await download(subject, ["file.txt"]))[0]?.content, utf8("first\n"));
    },
  },
  {
    name: "FS-24 an upload to an outward path is refused",
    needs: ["upload"],
    run: async (subject) => {
      for (const path of ["../x", "/../x", "C:\\x", "..\\x"]) {
        const [response] = (await subject.backend.uploadFiles?.([[path, utf8("x")]])) ?? [];
        ensure(response?.error, `${path}: ${show(response)}`);
        same(response.path, path);
      }
    },
  },
];

async function upload(
  subject: BackendUnderTest,
  files: readonly (readonly [string, Uint8Array])[],
): Promise<FileUploadResponse[]> {
  ensure(subject.backend.uploadFiles, "no uploadFiles");
  return subject.backend.uploadFiles(files.map(([name, bytes]) => [subject.at(name), bytes] as const));
}

async function download(
  subject: BackendUnderTest,
  names: readonly string[],
): Promise<FileDownloadResponse[]> {
  ensure(subject.backend.downloadFiles, "no downloadFiles");
  const responses = await subject.backend.downloadFiles(names.map((name) => subject.at(name)));
  return responses.map(({ path, content, error }) => ({
    path,
    content: content && Uint8Array.from(content),
    error,
  }));
}

function answer(subject: BackendUnderTest, name: string): FileUploadResponse {
  return { path: subject.at(name), error: null };
}
