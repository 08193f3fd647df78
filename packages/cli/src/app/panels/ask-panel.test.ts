import { emptyScreen } from "@deepwright/protocol";
import pc from "picocolors";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import type { Session } from "../session/session.ts";
import { themeOf } from "../view/theme.ts";
import { AskPanel } from "./ask-panel.ts";

const theme = themeOf("dark", false);

/** A panel about some writes, and a person who types `texts` when asked for a text. */
function asked(paths: readonly string[], texts: readonly (string | undefined)[] = []) {
  const notes: string[] = [];
  const answers: unknown[] = [];
  const typed = [...texts];
  const given: string[] = [];
  const actionRequests = paths.map((path) => ({ name: "write_file", args: { file_path: path } }));
  const session = {
    screen: { ...emptyScreen, interrupts: [{ id: "q", value: { actionRequests } }] },
    threadId: "thread",
    place: { rules: [] },
    answer: async (answer: unknown) => void answers.push(answer),
  } as unknown as Session;
  const panel = new AskPanel({
    ...{ session, theme, colours: pc.createColors(false), context: { theme, lineOf: () => undefined } },
    note: (rows) => void notes.push(rows(80).join("\n")),
    askText: async (_label, initial = "") => {
      given.push(initial);
      return typed.shift();
    },
    ...{ leave() {}, changed() {} },
  });
  /** Keys count only after a moment in which the person can read. */
  const press = async (key: string, isSeen: () => boolean) =>
    until(() => {
      if (!isSeen()) panel.handle(key);
      return isSeen();
    });
  return { panel, notes, answers, given, press };
}

test("yes to all shows every call before anything runs", async () => {
  const { notes, answers, press } = asked(["/a", "/b", "/c"]);
  expect(notes).toHaveLength(1);
  await press("Y", () => notes.length === 3);
  expect(notes.join("\n")).toMatch(/\/a[\s\S]*\(2 of 3\)[\s\S]*\/b[\s\S]*\(3 of 3\)[\s\S]*\/c/);
  expect(answers).toEqual([]);
  await press("Y", () => answers.length > 0);
  const yes = { type: "approve" };
  expect(answers).toEqual([{ q: { decisions: [yes, yes, yes] } }]);
});

test("arguments that are no JSON stay in the editor, and going back does not repeat the question", async () => {
  const { notes, given, press } = asked(["/a"], ["{ no", undefined]);
  await press("e", () => given.length === 2);
  expect(given[1]).toBe("{ no");
  expect(notes.slice(1)).toEqual([expect.stringContaining("This is not valid JSON")]);
});

test("permissions on a server elsewhere are for exactly the call, and Esc goes back", async () => {
  const { panel, press } = asked(["/a"]);
  await press("a", () => panel.rows(80).join("\n").includes("Esc goes back"));
  expect(panel.rows(80).slice(0, -1)).toEqual([
    "Run this? write_file /a",
    "❯ 1  exactly this call, in this thread",
  ]);
});
