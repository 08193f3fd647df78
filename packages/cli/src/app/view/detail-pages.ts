/** Tool calls and thoughts of all agents in full, a page each. */
import type { Screen } from "@deepwright/protocol";
import { textRows } from "../app-words.ts";
import type { ViewedPage } from "../panels/viewer.ts";
import { callDetailRows } from "./call-rows.ts";
import type { Theme } from "./theme.ts";

export function detailPages({ main, subagents }: Screen, theme: Theme): readonly ViewedPage[] {
  const agents = [...Object.values(subagents), main];
  return agents.flatMap(({ name, messages }) =>
    messages.flatMap(({ calls, reasoning }) => [
      ...(reasoning === ""
        ? []
        : [{ title: "Thoughts", rows: (width: number) => textRows(reasoning, width) }]),
      ...calls.map((call) => ({
        title: name === undefined ? "Tool call" : `Tool call of ${textRows(name, 40)[0]?.trim() ?? ""}`,
        rows: (width: number) => callDetailRows(call, width, theme),
      })),
    ]),
  );
}
