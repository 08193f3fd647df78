import { expect, test } from "vitest";
import type { BackendProtocol, EditResult, GrepResult, WriteResult } from "../../backends/backend.ts";
import { MapBackend } from "../../backends/file-map/map-backend.ts";
import { backendSuite } from "../index.ts";
import { SuiteFailure } from "../suite/suite-check.ts";

type Mistake = (right: MapBackend) => Partial<Record<keyof BackendProtocol, unknown>>;

/** A mistake others have made, and the case that must notice it. */
const MISTAKES: readonly (readonly [name: string, notices: RegExp, mistake: Mistake])[] = [
  [
    "write replaces what is there",
    /write to a file that exists/,
    (right) => ({ write: (path: string, text: string) => right.write(path, text, { overwrite: true }) }),
  ],
  [
    "creators look first and write later",
    /many concurrent creators/,
    (right) => ({
      write: async (path: string, text: string): Promise<WriteResult> => {
        const there = await right.readRaw(path);
        await new Promise((resolve) => setTimeout(resolve, 1));
        return there.error === undefined
          ? { error: `Cannot write to ${path} because it already exists`, code: "FILE_EXISTS" }
          : right.write(path, text, { overwrite: true });
      },
    }),
  ],
  [
    "edit expands $&",
    /FS-21/,
    (right) => ({
      edit: async (path: string, old: string, replacement: string): Promise<EditResult> => {
        const { data } = await right.readRaw(path);
        const text = String(data?.content).replace(old, replacement);
        await right.write(path, text, { overwrite: true });
        return { path, occurrences: 1 };
      },
    }),
  ],
  [
    "edits of one file are lost",
    /parallel edits of one file all land/,
    (right) => ({
      edit: async (path: string, old: string, replacement: string): Promise<EditResult> => {
        const { data } = await right.readRaw(path);
        await new Promise((resolve) => setTimeout(resolve, 1));
        const text = String(data?.content).replace(old, () => replacement);
        await right.write(path, text, { overwrite: true });
        return { path, occurrences: 1 };
      },
    }),
  ],
  [
    "write turns CRLF into LF",
    /byte for byte: CRLF/,
    (right) => ({
      write: (path: string, text: string, options?: object) =>
        right.write(path, text.replaceAll("\r\n", "\n"), options),
    }),
  ],
  [
    "grep is a regular expression",
    /the pattern is literal text/,
    (right) => ({
      grep: (pattern: string, ...rest: [string]) => right.grep(pattern.replace(".", "x"), ...rest),
    }),
  ],
  [
    "grep does not say that it stopped",
    /maxCount caps the matches/,
    (right) => ({
      grep: async (...args: Parameters<MapBackend["grep"]>): Promise<GrepResult> => {
        const { matches } = await right.grep(...args);
        return { matches: matches ?? [] };
      },
    }),
  ],
  [
    "glob looks at names in the directory alone",
    /^\*\.ts finds/,
    (right) => ({ glob: (pattern: string, path: string) => right.glob(`./${pattern}`, path) }),
  ],
  [
    "ls is in the order of writing",
    /sorted by the code units/,
    (right) => ({
      ls: async (path: string) => {
        const { files } = await right.ls(path);
        return { files: files?.toReversed() };
      },
    }),
  ],
  [
    "an abort becomes a result",
    /write with an aborted signal/,
    (right) => ({ write: (path: string, text: string) => right.write(path, text) }),
  ],
  [
    "an error shows the host",
    /FS-22/,
    () => ({ read: () => ({ error: "ENOENT: no such file, open '/srv/x'", code: "FILE_NOT_FOUND" }) }),
  ],
  [
    "an error is thrown",
    /read of a file that is not there/,
    () => ({ read: () => Promise.reject(new Error()) }),
  ],
  [
    "delete stops at the directory",
    /delete of a directory/,
    () => ({ delete: (path: string) => ({ path }) }),
  ],
  [
    "NUL is let through",
    /FS-09/,
    (right) => ({ read: (path: string) => right.read(path.replace("\0", "")) }),
  ],
  [
    "uploads are text",
    /every byte comes back/,
    (right) => ({
      uploadFiles: async (files: [string, Uint8Array][]) => {
        for (const [path, bytes] of files)
          await right.write(path, new TextDecoder().decode(bytes), { overwrite: true });
        return files.map(([path]) => ({ path, error: null }));
      },
    }),
  ],
];

test.each(MISTAKES)("%s: the suite notices", async (_name, notices, mistake) => {
  const failed = await failures(mistake, notices);
  expect(failed.length).toBeGreaterThan(0);
});

test("a failure of a random case says its seed", async () => {
  const mistake: Mistake = (right) => ({
    write: (path: string, text: string, options?: object) => right.write(path, `${text} `, options),
  });
  const [failure] = await failures(mistake, /any text that is written/);
  expect(failure).toBeInstanceOf(SuiteFailure);
  expect((failure as Error).message).toMatch(/TEST_SEED=\d+/);
});

test("an ability that is declared and missing is a failure", async () => {
  const failed = await failures(() => ({ delete: undefined }), /delete removes a file/, { canDelete: true });
  expect(String(failed[0])).toMatch(/has no method delete/);
});

test("an ability that is declared absent is not tested", async () => {
  const broken = () => ({ delete: () => ({ error: "broken", code: "UNAVAILABLE" }) });
  expect(await failures(broken, /delete removes a file/, { canDelete: false })).toEqual([]);
});

test("a case closes what it opened, also when it fails", async () => {
  let open = 0;
  const cases = declared({
    open: () => {
      open += 1;
      const close = (): void => {
        open -= 1;
      };
      return { backend: new MapBackend(), close };
    },
  });
  await cases.get("FS-09 a NUL in a path is INVALID_PATH in every operation")?.();
  expect(open).toBe(0);
});

async function failures(mistake: Mistake, only: RegExp, options: object = {}): Promise<unknown[]> {
  const open = () => {
    const right = new MapBackend();
    const wrong = mistake(right);
    const backend = new Proxy(right, {
      get: (target, name) => {
        if (Object.hasOwn(wrong, name)) return wrong[name as keyof BackendProtocol];
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return { backend };
  };
  const failed: unknown[] = [];
  for (const [name, run] of declared({ open, ...options })) {
    if (!only.test(name)) continue;
    try {
      await run();
    } catch (error) {
      failed.push(error);
    }
  }
  return failed;
}

function declared(options: Pick<Parameters<typeof backendSuite>[1], "open">): Map<string, () => unknown> {
  const cases = new Map<string, () => unknown>();
  const runner = {
    describe: (_name: string, body: () => void) => body(),
    test: (name: string, body: () => unknown) => void cases.set(name, body),
  };
  backendSuite(runner as Parameters<typeof backendSuite>[0], { name: "x", ...options });
  return cases;
}
