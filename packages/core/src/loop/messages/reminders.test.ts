import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { isReminder, type Reminder, remindersChannel, withReminders } from "./reminders.ts";

const reminder = (id: string, after: string): Reminder => ({ id, after, text: `words ${id}` });

describe("reminders", () => {
  it("stand behind their message, and behind all results of a turn", () => {
    const call = { id: "c", name: "ls", args: {}, type: "tool_call" as const };
    const messages = [
      new HumanMessage({ id: "h", content: "Hi" }),
      new AIMessage({ id: "a", content: "", tool_calls: [call, { ...call, id: "d" }] }),
      new ToolMessage({ id: "t1", content: "1", tool_call_id: "c" }),
      new ToolMessage({ id: "t2", content: "2", tool_call_id: "d" }),
    ];
    const list = withReminders(messages, [reminder("1", "h"), reminder("2", "t1"), reminder("3", "gone")]);
    expect(list.map((message) => message.id)).toEqual(["h", "reminder-1", "a", "t1", "t2", "reminder-2"]);
    expect(list.filter(isReminder)).toHaveLength(2);
    expect(withReminders(messages, [reminder("3", "gone")])).toBe(messages);
  });

  it("are added once, by several tasks at a time, and forgotten when told so", () => {
    const channel = remindersChannel();
    channel.update([[reminder("1", "h")], [reminder("1", "h"), reminder("2", "a")]]);
    expect((channel.get() as Reminder[]).map(({ id }) => id)).toEqual(["1", "2"]);
    channel.update([{ kept: ["2"] }, [reminder("3", "b")]]);
    expect((channel.get() as Reminder[]).map(({ id }) => id)).toEqual(["2", "3"]);
  });
});
