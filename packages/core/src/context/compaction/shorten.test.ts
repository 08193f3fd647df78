import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clipMessage, clipText, mediaWords, shortenArguments } from "./shorten.ts";

const LONG = `$& ${"x".repeat(5000)}`;
const args = { file_path: "/a.txt", content: LONG };
const call = (name = "write_file"): AIMessage =>
  new AIMessage({
    id: "m",
    content: [
      { type: "text", text: "Writing." },
      { type: "tool_use", id: "c", name, input: args },
    ],
    tool_calls: [{ id: "c", name, args }],
    additional_kwargs: {
      tool_calls: [{ id: "c", type: "function", function: { name, arguments: JSON.stringify(args) } }],
    },
    response_metadata: {
      output: [{ type: "function_call", call_id: "c", name, arguments: JSON.stringify(args) }],
    },
  });

describe("shortenArguments", () => {
  it("says in every place of a message the same, and leaves the message alone", () => {
    const message = call();
    const short = shortenArguments(message, { maxLength: 2000 }) as AIMessage;
    expect(short.tool_calls?.[0]?.args).toEqual({
      file_path: "/a.txt",
      content: expect.stringMatching(/^\$& x{37}… \[4963 more characters were written\]$/),
    });
    expect(JSON.stringify(short)).not.toContain("x".repeat(100));
    expect(short.text).toBe("Writing.");
    expect(short.id).toBe("m");
    expect(message.tool_calls?.[0]?.args).toEqual(args);
  });

  it("gives the same message for the same message", () => {
    const message = call();
    const limit = { maxLength: 10 };
    expect(shortenArguments(message, limit)).toBe(shortenArguments(message, limit));
    const before = shortenArguments(message, limit);
    message.content = "edited in place";
    expect(shortenArguments(message, limit)).not.toBe(before);
  });

  it("takes other words", () => {
    const short = shortenArguments(call("edit_file"), {
      maxLength: 100,
      truncationText: "...cut",
    }) as AIMessage;
    expect(short.tool_calls?.[0]?.args.content).toMatch(/x\.\.\.cut$/);
  });

  it.each([
    ["short arguments", call(), 6000],
    ["other tools", call("send_mail"), 10],
    ["people", new HumanMessage(LONG), 10],
  ])("leaves %s alone", (_name, message, maxLength) =>
    expect(shortenArguments(message, { maxLength })).toBe(message),
  );
});

describe("clipText", () => {
  it("shows head and tail and says how much is missing and where it is", () => {
    expect(clipText("a".repeat(70) + "b".repeat(900) + "c".repeat(30), 100, "/x")).toBe(
      `${"a".repeat(70)}\n[… 900 characters left out; the whole text is in /x …]\n${"c".repeat(30)}`,
    );
  });

  it("never tears a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), fc.nat(40), (text, size) => {
        expect(clipText(text.repeat(5), size).isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("clipMessage", () => {
  const image = { type: "image", mimeType: "image/png", url: "/large_tool_results/a.png" };

  it("keeps all of a result but part of its words", () => {
    const message = new ToolMessage({
      id: "m",
      tool_call_id: "c",
      name: "t",
      status: "error",
      artifact: 1,
      content: LONG,
    });
    const short = clipMessage(message, { characters: 100 }) as ToolMessage;
    expect(short).toMatchObject({ id: "m", tool_call_id: "c", name: "t", status: "error", artifact: 1 });
    expect(short.text.length).toBeLessThan(200);
    expect(clipMessage(message, { characters: 100 })).toBe(short);
  });

  it("names pictures instead of showing them, when told to", () => {
    const message = new HumanMessage({ content: [image, { type: "text", text: "see" }] as never });
    expect(clipMessage(message, { characters: 9 }).content).toEqual(message.content);
    expect(clipMessage(message, { characters: 9, withoutMedia: true }).text).toContain(
      "[image/png /large_tool_results/a.png]",
    );
  });
});

describe("mediaWords", () => {
  it.each([
    [{ type: "image", mimeType: "image/png", data: "AAAA" }, "[image/png, about 3 bytes]"],
    [{ type: "image_url", image_url: { url: "data:image/gif;base64,AAAA" } }, "[image/gif]"],
    [{ type: "image_url", image_url: "https://x.org/a.png" }, "[image_url https://x.org/a.png]"],
    [{ type: "document", source: { media_type: "application/pdf" } }, "[application/pdf]"],
  ])("never says the bytes: %j", (block, expected) => expect(mediaWords(block)).toBe(expected));
});
