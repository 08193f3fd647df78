import { describe, expect, it } from "vitest";
import { MapBackend } from "./map-backend.ts";

describe("MapBackend", () => {
  it("starts with the files it was given, as text or as data", async () => {
    const data = { content: "AAEC", mimeType: "image/png", created_at: "t", modified_at: "t" };
    const backend = new MapBackend({ "/a.md": "one", "b/c.png": data });
    expect((await backend.glob("**")).files?.map(({ path }) => path)).toEqual(["/a.md", "/b/c.png"]);
    expect(await backend.readRaw("/a.md")).toMatchObject({
      data: { content: "one", mimeType: "text/markdown" },
    });
    expect((await backend.read("/b/c.png")).content).toEqual(new Uint8Array([0, 1, 2]));
  });

  it("FS-15 takes files named like properties of objects", async () => {
    const backend = new MapBackend(JSON.parse('{"__proto__": "p", "/constructor": "c"}'));
    expect(await backend.read("/__proto__")).toMatchObject({ content: "p" });
    expect(await backend.read("/constructor")).toMatchObject({ content: "c" });
    expect(await backend.read("/toString")).toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it.each([{ "/": "x" }, { "/../x": "x" }, { "/a": 7 }, { "/a": null }, { "/a": {} }])(
    "refuses %j at once",
    (files) => {
      expect(() => new MapBackend(files as never)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION" }),
      );
    },
  );

  it("keeps what it was given from changing", async () => {
    const files = { "/a": "one" };
    const backend = new MapBackend(files);
    await backend.edit("/a", "one", "two");
    expect(files).toEqual({ "/a": "one" });
  });
});
