/** Numbers of lines and matches: pages of a read, caps of a search. */
import { applyGrepMaxCount, FilesystemBackend, normalizeReadPagination } from "library";
import { fill, scratch } from "../../kit/scratch.ts";

export default async function program() {
  const rootDir = scratch("pages");
  const lines = Array.from({ length: 1200 }, (_, i) => `line ${i + 1}`);
  fill(rootDir, { "long.txt": lines.join("\n"), "ends.txt": "a\nb\n" });
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  const described = async (path: string, offset?: number, limit?: number) => {
    const { content, ...rest } = await backend.read(path, offset, limit);
    const text = typeof content === "string" ? content : "";
    const { error, mimeType, totalLines, startLine, endLine, nextOffset } = rest;
    const ends = [text.split("\n")[0], text.split("\n").at(-1)];
    return { error: !!error, mimeType, totalLines, startLine, endLine, nextOffset, ends };
  };
  const matches = [1, 2, 3].map((line) => ({ path: "/a", line, text: "x" }));
  return {
    whole: await described("/long.txt"),
    middle: await described("/long.txt", 100, 10),
    end: await described("/long.txt", 1190, 100),
    beyond: await described("/long.txt", 5000, 10),
    nothing: await described("/ends.txt", 0, 0),
    newline: await described("/ends.txt"),
    normalized: [
      [0, 0],
      [-5, -1],
      [2.7, 3.9],
      [10, 20],
    ].map(([offset, limit]) => normalizeReadPagination(offset ?? 0, limit ?? 0)),
    capped: applyGrepMaxCount({ result: { matches }, maxCount: 2 }),
    uncapped: applyGrepMaxCount({ result: { matches }, maxCount: null }),
    exact: applyGrepMaxCount({ result: { matches }, maxCount: 3 }),
    failed: applyGrepMaxCount({ result: { error: "no" }, maxCount: 3 }),
    search: (await backend.grep("line 11", "/", null, 5)).truncated,
  };
}
