import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { backendSuite } from "../../testing/index.ts";
import type { FileInfo } from "../backend.ts";
import type { FetchedFile, FilePrimitives } from "./file-primitives.ts";
import { backendFromPrimitives } from "./primitive-backend.ts";

interface Requests {
  readonly log: string[];
}

/** A place that answers after a while, as one behind a network does. */
function slowPrimitives(): Required<FilePrimitives> & Requests {
  const files = new Map<string, FetchedFile>();
  const log: string[] = [];
  let versions = 0;
  return {
    log,
    async list(prefix): Promise<FileInfo[]> {
      log.push(`list ${prefix}`);
      await sleep(0);
      return [...files]
        .filter(([path]) => path.startsWith(prefix))
        .map(([path, { bytes, modified_at }]) => ({ path, size: bytes.length, modified_at }))
        .toReversed();
    },
    async get(path) {
      log.push(`get ${path}`);
      await sleep(0);
      return files.get(path);
    },
    async put(path, bytes, { ifAbsent, ifVersion }) {
      log.push(`put ${path}`);
      await sleep(0);
      const existing = files.get(path);
      if (ifAbsent && existing) return false;
      if (ifVersion !== undefined && existing?.version !== ifVersion) return false;
      versions += 1;
      files.set(path, { bytes, version: String(versions), modified_at: new Date().toISOString() });
      return true;
    },
    async remove(path) {
      await sleep(0);
      files.delete(path);
    },
  };
}

backendSuite(
  { describe, test },
  {
    name: "backendFromPrimitives",
    timeoutMs: 600_000,
    open: () => ({ backend: backendFromPrimitives(slowPrimitives()) }),
    canAppend: true,
    canDelete: true,
    canTransfer: true,
  },
);

backendSuite(
  { describe, test },
  {
    name: "two backends on one place, used in turn",
    timeoutMs: 600_000,
    open: () => {
      const primitives = slowPrimitives();
      const backends = [backendFromPrimitives(primitives), backendFromPrimitives(primitives)];
      let calls = 0;
      const backend = new Proxy(backends[0] as object, {
        get: (_target, name) => {
          calls += 1;
          const chosen = backends[calls % 2] as unknown as Record<string | symbol, unknown>;
          const member = chosen[name];
          return typeof member === "function" ? member.bind(chosen) : member;
        },
      });
      return { backend: backend as (typeof backends)[0] & {} };
    },
  },
);

test("a place that cannot remove gives a backend that cannot delete", () => {
  const { list, get, put } = slowPrimitives();
  expect(backendFromPrimitives({ list, get, put }).delete).toBeUndefined();
});

test("what a place refuses is the answer to the write", async () => {
  const { list, get } = slowPrimitives();
  const full = { error: "There is no space left", code: "STORAGE_FULL" } as const;
  const backend = backendFromPrimitives({ list, get, put: () => full });
  expect(await backend.write("/a.txt", "x")).toEqual(full);
});

test("a place that never lets a change through gives CONFLICT, not an endless wait", async () => {
  const { list, get } = slowPrimitives();
  const backend = backendFromPrimitives({ list, get, put: () => false });
  expect(await backend.write("/a.txt", "x")).toMatchObject({ code: "CONFLICT" });
});

test("what is broken is thrown", async () => {
  const broken = (): never => {
    throw new Error("connection lost");
  };
  const backend = backendFromPrimitives({ list: broken, get: broken, put: broken });
  await expect(backend.read("/a.txt")).rejects.toThrow("connection lost");
  await expect(backend.grep("x")).rejects.toThrow("connection lost");
});

test("a listing that names what is no path reports it", async () => {
  const { get, put } = slowPrimitives();
  const listed = [{ path: "/ok.txt" }, { path: "/a//b" }, { path: "/../x" }];
  const backend = backendFromPrimitives({ list: () => listed, get, put });
  expect(await backend.ls("/")).toEqual({
    files: [{ path: "/ok.txt", is_dir: false }],
    skipped: [
      { path: "/a//b", code: "INVALID_PATH" },
      { path: "/../x", code: "INVALID_PATH" },
    ],
  });
});

test("ls and glob fetch no file, and grep only those its filter lets through", async () => {
  const primitives = slowPrimitives();
  const backend = backendFromPrimitives(primitives);
  for (const name of ["a.txt", "b.md", "c/d.txt"]) await backend.write(`/${name}`, "needle\n");
  primitives.log.length = 0;
  await backend.ls("/");
  await backend.glob("**/*.txt");
  expect(primitives.log).toEqual(["list /", "list /"]);
  await backend.grep("needle", "/", "*.txt");
  expect(primitives.log.slice(2)).toEqual(["list /", "get /a.txt", "get /c/d.txt"]);
});

test("a grep with a cap stops fetching when it has enough", async () => {
  const primitives = slowPrimitives();
  for (let index = 0; index < 500; index++)
    await primitives.put(`/${String(index).padStart(3, "0")}.txt`, new TextEncoder().encode("needle\n"), {});
  primitives.log.length = 0;
  const result = await backendFromPrimitives(primitives).grep("needle", "/", null, 3);
  expect(result).toMatchObject({ truncated: true, matches: [{ line: 1 }, { line: 1 }, { line: 1 }] });
  expect(primitives.log.length).toBeLessThan(100);
});
