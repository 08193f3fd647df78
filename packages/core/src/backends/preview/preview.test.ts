import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BackendProtocol } from "../backend.ts";
import { MapBackend } from "../file-map/map-backend.ts";
import { resolveBackend } from "../resolve.ts";
import { StateBackend } from "../state/state.ts";
import { previewBackend } from "./preview.ts";

const names = (result: { files?: readonly { path: string }[] }) => result.files?.map(({ path }) => path);
const bytes = new Uint8Array([0, 255]);

function sample() {
  const inner = new MapBackend({
    "/kept.txt": "kept hit",
    "/dir/one.txt": "one hit",
    "/dir/sub/two.txt": "two hit",
    "/edited.txt": "before hit",
  });
  return { inner, preview: previewBackend(inner) };
}

async function everything(backend: BackendProtocol): Promise<Record<string, unknown>> {
  const files: Record<string, unknown> = {};
  for (const path of names(await backend.glob("**")) ?? []) files[path] = (await backend.read(path)).content;
  return files;
}

describe("previewBackend", () => {
  it("keeps every change to itself and lists them", async () => {
    const { inner, preview } = sample();
    const before = await everything(inner);
    await preview.write("/new.txt", "new hit");
    await preview.edit("/edited.txt", "before", "after");
    await preview.append?.("/kept.txt", " and more");
    await preview.delete?.("/dir");
    await preview.uploadFiles?.([["/bytes.bin", bytes]]);
    expect(await everything(inner)).toEqual(before);
    const changes = preview
      .changes()
      .map(({ path, before: was, after }) => [path, was?.content, after?.content]);
    expect(changes).toEqual([
      ["/bytes.bin", undefined, Uint8Array.of(0, 255)],
      ["/dir/one.txt", "one hit", undefined],
      ["/dir/sub/two.txt", "two hit", undefined],
      ["/edited.txt", "before hit", "after hit"],
      ["/kept.txt", "kept hit", "kept hit and more"],
      ["/new.txt", undefined, "new hit"],
    ]);
  });

  it("shows the files as they would be, to every way of looking", async () => {
    const { preview } = sample();
    await preview.write("/dir/new.txt", "new hit");
    await preview.edit("/edited.txt", "hit", "miss");
    await preview.delete?.("/dir/sub/two.txt");
    expect(names(await preview.ls("/"))).toEqual(["/dir/", "/edited.txt", "/kept.txt"]);
    expect(names(await preview.ls("/dir"))).toEqual(["/dir/new.txt", "/dir/one.txt"]);
    expect(names(await preview.glob("**/*.txt", "/dir"))).toEqual(["/dir/new.txt", "/dir/one.txt"]);
    expect((await preview.grep("hit")).matches?.map(({ path }) => path)).toEqual([
      "/dir/new.txt",
      "/dir/one.txt",
      "/kept.txt",
    ]);
    expect(await preview.read("/dir/sub/two.txt")).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await preview.downloadFiles?.(["/edited.txt", "/kept.txt", "/dir"])).toMatchObject([
      { content: new TextEncoder().encode("before miss") },
      { content: new TextEncoder().encode("kept hit") },
      { error: "is_directory" },
    ]);
  });

  it("does not let hidden matches use up the cap of a grep", async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`/a${n}.txt`, "hit"]));
    const preview = previewBackend(new MapBackend({ ...files, "/z.txt": "hit" }));
    for (const path of Object.keys(files)) await preview.edit(path, "hit", "miss");
    await preview.write("/zz.txt", "hit");
    const search = async (cap: number) => (await preview.grep("hit", "/", null, cap)) as object;
    expect(await search(2)).toEqual({
      matches: [
        { path: "/z.txt", line: 1, text: "hit" },
        { path: "/zz.txt", line: 1, text: "hit" },
      ],
    });
    expect(await search(1)).toEqual({ matches: [{ path: "/z.txt", line: 1, text: "hit" }], truncated: true });
  });

  it("a deleted directory can become a file, and a deleted file can come back", async () => {
    const { preview } = sample();
    await preview.delete?.("/dir");
    expect(await preview.write("/dir", "a file now")).toMatchObject({ path: "/dir" });
    expect(await preview.ls("/dir")).toMatchObject({ code: "NOT_A_DIRECTORY" });
    await preview.delete?.("/kept.txt");
    await preview.write("/kept.txt", "kept hit");
    expect(preview.changes().map(({ path }) => path)).not.toContain("/kept.txt");
    await preview.write("/short-lived.txt", "x");
    await preview.delete?.("/short-lived.txt");
    expect(preview.changes().map(({ path }) => path)).not.toContain("/short-lived.txt");
  });

  it("has no execute, whatever it covers", () => {
    const sandbox = Object.assign(new MapBackend(), { id: "s", execute: () => ({}) });
    expect("execute" in previewBackend(sandbox)).toBe(false);
  });

  it("keeps its changes from task to task over a backend that is bound to each", async () => {
    const preview = previewBackend(new StateBackend());
    const file = { content: "state", created_at: "t", modified_at: "t" };
    const first = await resolveBackend(preview, { state: { files: { "/s": file } } });
    expect(await first.write("/new", "1")).toEqual({ path: "/new" });
    const second = await resolveBackend(preview, { state: { files: { "/s": file } } });
    expect(names(await second.ls("/"))).toEqual(["/new", "/s"]);
    expect(preview.changes()).toHaveLength(1);
  });

  it("after any operations looks as the inner backend would, had it done them", async () => {
    const path = fc
      .array(fc.constantFrom("a", "b", "c.txt"), { minLength: 1, maxLength: 3 })
      .map((parts) => `/${parts.join("/")}`);
    const operation = fc.oneof(
      fc.tuple(fc.constant("write" as const), path, fc.constantFrom("one", "two")),
      fc.tuple(fc.constant("edit" as const), path, fc.constant("")),
      fc.tuple(fc.constant("delete" as const), path, fc.constant("")),
    );
    const initial = { "/a/b/c.txt": "one", "/b/a": "two", "/c.txt": "one" };
    const apply = async (
      backend: BackendProtocol,
      [kind, target, text]: readonly [string, string, string],
    ) => {
      if (kind === "write") return (await backend.write(target, text)).error;
      if (kind === "edit") return (await backend.edit(target, "one", "two")).error;
      return (await backend.delete?.(target))?.error;
    };
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 15 }), async (operations) => {
        const direct = new MapBackend(initial);
        const inner = new MapBackend(initial);
        const preview = previewBackend(inner);
        for (const one of operations) expect(await apply(preview, one)).toBe(await apply(direct, one));
        expect(await everything(preview)).toEqual(await everything(direct));
        for (const place of ["/", "/a", "/b"])
          expect(names(await preview.ls(place))).toEqual(names(await direct.ls(place)));
        expect(await preview.grep("o", "/", null, 2)).toEqual(await direct.grep("o", "/", null, 2));
        expect(await everything(inner)).toEqual(initial);
      }),
      { numRuns: 100 },
    );
  });
});
