import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { redactable, redactStream, redactText } from "./redaction.ts";

test("credentials are looked for without the name of their scheme, and not when they are short", () => {
  expect(redactable("Bearer sk-123456789")).toBe("sk-123456789");
  expect(redactable("sk-123456789")).toBe("sk-123456789");
  expect(redactable("Bearer short")).toBeUndefined();
});

test("a secret is masked wherever the chunks are cut, and the length stays", async () => {
  const body = "aaab aaaabaaaab secret-secret-key end secret-secret-ke";
  for (let size = 1; size < 12; size++) {
    const chunks = body.match(new RegExp(`.{1,${size}}`, "g"))!.map((chunk) => Buffer.from(chunk));
    const masked = await text(Readable.from(chunks).pipe(redactStream("secret-key")));
    expect(masked).toBe(body.replace("secret-key", "*".repeat(10)));
    expect(await text(Readable.from(chunks).pipe(redactStream("aaaab")))).toBe(
      body.replaceAll("aaaab", "*****"),
    );
  }
});

test("bytes that cannot begin a secret do not wait for more", async () => {
  const stream = redactStream("secret-key");
  stream.write("data: one\n\n");
  expect(String(stream.read())).toBe("data: one\n\n");
  stream.write("data: secr");
  expect(String(stream.read())).toBe("data: ");
  stream.destroy();
});

test("text is masked as well", () => {
  expect(redactText("x=12345678; y=12345678", ["12345678"])).toBe("x=********; y=********");
});
