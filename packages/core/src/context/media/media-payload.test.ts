import { describe, expect, test } from "vitest";
import { HOLE, refill } from "../../loop/request/request-media-block.ts";
import { payloadOf } from "./media-payload.ts";

const DATA = "iVBORw0KGgo=";
const URL = `data:image/png;base64,${DATA}`;

describe("the data in a content block", () => {
  test.each<[string, Record<string, unknown>, string | undefined, string | undefined]>([
    ["standard", { type: "image", mimeType: "image/png", data: DATA }, "image/png", undefined],
    ["standard, as a data URL", { type: "image", url: URL }, "image/png", undefined],
    [
      "older standard",
      { type: "file", source_type: "base64", mime_type: "a/b", data: DATA, metadata: { name: "n" } },
      "a/b",
      "n",
    ],
    [
      "older standard, as a data URL",
      { type: "image", source_type: "url", url: URL },
      "image/png",
      undefined,
    ],
    [
      "a link to a picture",
      { type: "image_url", image_url: { url: URL, detail: "low" } },
      "image/png",
      undefined,
    ],
    ["a link as text", { type: "image_url", image_url: URL }, "image/png", undefined],
    [
      "Anthropic",
      { type: "document", title: "t", source: { type: "base64", media_type: "application/pdf", data: DATA } },
      "application/pdf",
      "t",
    ],
    [
      "OpenAI, a sound",
      { type: "input_audio", input_audio: { data: DATA, format: "mp3" } },
      "audio/mpeg",
      undefined,
    ],
    ["OpenAI, a file", { type: "file", file: { file_data: URL, filename: "f" } }, "image/png", "f"],
    ["OpenAI's responses, a picture", { type: "input_image", image_url: URL }, "image/png", undefined],
    ["OpenAI's responses, a file", { type: "input_file", file_data: URL, filename: "f" }, "image/png", "f"],
    ["Gemini", { type: "media", mimeType: "video/mp4", data: DATA }, "video/mp4", undefined],
    ["Gemini, inline", { inlineData: { mimeType: "image/png", data: DATA } }, "image/png", undefined],
    ["Gemini, by its type", { type: "image/png", data: DATA }, "image/png", undefined],
    [
      "the Model Context Protocol",
      { type: "resource", resource: { uri: "x://y/z.bin", mimeType: "a/b", blob: DATA } },
      "a/b",
      "z.bin",
    ],
  ])("%s", (_name, block, mimeType, filename) => {
    const payload = payloadOf(block);
    expect(payload).toMatchObject({ data: DATA });
    expect([payload?.mimeType, payload?.filename]).toEqual([mimeType, filename]);
    if (payload?.given === undefined) return;
    expect(JSON.stringify(payload.given)).not.toContain(DATA);
    expect(refill(payload.given, HOLE, DATA)).toEqual(block);
  });

  test("that is written as it is, and not as base64, is taken as well", () => {
    const payload = payloadOf({ type: "image_url", image_url: "data:image/svg+xml,%3Csvg/%3E" });
    expect(payload).toMatchObject({ mimeType: "image/svg+xml" });
    expect(new TextDecoder().decode(payload?.data as Uint8Array)).toBe("<svg/>");
  });

  test.each([
    [{ type: "text", text: URL }],
    [{ type: "image", url: "https://example.com/a.png" }],
    [{ type: "image", url: "backend:/large_tool_results/a.png" }],
    [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }],
    [{ type: "image", source: { type: "url", url: "https://example.com/a.png" } }],
    [{ type: "file", fileId: "f" }],
    [{ type: "file", file: { file_id: "f" } }],
    [{ type: "resource", resource: { uri: "x://y", text: "words" } }],
    [{ type: "tool_use", id: "1", name: "n", input: {} }],
  ])("is not found in %j", (block) => expect(payloadOf(block)).toBeUndefined());
});
