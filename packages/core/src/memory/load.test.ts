import { describe, expect, it } from "vitest";
import type { BackendProtocol, FileDownloadResponse } from "../backends/backend.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { downloadTexts, readPages } from "./load.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("downloadTexts", () => {
  it("asks once for all files", async () => {
    const asked: (readonly string[])[] = [];
    const backend = {
      downloadFiles: async (paths: readonly string[]): Promise<FileDownloadResponse[]> => {
        asked.push(paths);
        return paths.map((path) =>
          path === "/none"
            ? { path, content: null, error: "file_not_found" }
            : { path, content: bytes(path), error: null },
        );
      },
    } as unknown as BackendProtocol;
    expect(await downloadTexts(backend, ["/a", "/none", "/b"], {})).toEqual([
      { path: "/a", text: "/a" },
      { path: "/none" },
      { path: "/b", text: "/b" },
    ]);
    expect(asked).toEqual([["/a", "/none", "/b"]]);
    expect(await downloadTexts(backend, [], {})).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it("reads what a transfer could not give, to know the reason or the encoding", async () => {
    const backend = {
      downloadFiles: (paths: readonly string[]) =>
        paths.map((path) =>
          path === "/latin"
            ? { path, content: new Uint8Array([0xfc]), error: null }
            : { path, content: null, error: "permission_denied" as const },
        ),
      read: (path: string) =>
        path === "/latin"
          ? { content: "ü", mimeType: "text/plain" }
          : { error: "A link leads out of the root", code: "OUTSIDE_ROOT" },
    } as unknown as BackendProtocol;
    expect(await downloadTexts(backend, ["/latin", "/link"], {})).toEqual([
      { path: "/latin", text: "ü" },
      { path: "/link", problem: "A link leads out of the root" },
    ]);
  });

  it("throws what a backend throws: its failure is not an empty memory", async () => {
    const backend = { downloadFiles: () => Promise.reject(new Error("lost")) } as unknown as BackendProtocol;
    await expect(downloadTexts(backend, ["/a"], {})).rejects.toThrow("lost");
  });
});

describe("readPages", () => {
  it("gives the beginning of a long file, and says that it goes on", async () => {
    const backend = new MapBackend();
    await backend.write("/a", "x\n".repeat(5000));
    await backend.write("/empty", "");
    const [long, empty, missing] = await readPages(backend, ["/a", "/empty", "/b"], {});
    expect(long).toMatchObject({ goesOn: true });
    expect(long?.text?.length).toBeLessThan(5000);
    expect(empty).toEqual({ path: "/empty", text: "" });
    expect(missing).toEqual({ path: "/b" });
  });
});
