import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { type RenderedMessage, RenderedMessages } from "./request-media-cache.ts";

const given = (index: number): HumanMessage =>
  new HumanMessage({ content: [{ type: "text", text: `${index}` }] });
const made = (message: HumanMessage, weight: number): RenderedMessage => ({
  source: message.content,
  message,
  behind: [],
  weight,
});

describe("rendered messages", () => {
  test("are kept until they weigh too much; those not used for longest go first", () => {
    const kept = new RenderedMessages(100);
    const [first, second, third] = [given(1), given(2), given(3)] as const;
    kept.set(first, "a", made(first, 50));
    kept.set(second, "a", made(second, 50));
    expect(kept.get(first, "a")?.weight).toBe(50);
    kept.set(third, "a", made(third, 50));
    expect(kept.get(first, "a")).toBeDefined();
    expect(kept.get(second, "a")).toBeUndefined();
    expect(kept.get(third, "a")).toBeDefined();
  });

  test("that weigh nothing are kept in any number", () => {
    const kept = new RenderedMessages(10);
    const messages = Array.from({ length: 50 }, (_, index) => given(index));
    for (const message of messages) kept.set(message, "a", made(message, 0));
    expect(messages.every((message) => kept.get(message, "a") !== undefined)).toBe(true);
  });

  test("are told apart by form, replaced by newer ones and forgotten when the content changes", () => {
    const kept = new RenderedMessages(100);
    const message = given(1);
    for (let round = 0; round < 10; round += 1) kept.set(message, "a", made(message, 60));
    expect(kept.get(message, "b")).toBeUndefined();
    const other = given(2);
    kept.set(other, "a", made(other, 40));
    expect(kept.get(message, "a")).toBeDefined();
    message.content = [{ type: "text", text: "changed" }];
    expect(kept.get(message, "a")).toBeUndefined();
  });
});
