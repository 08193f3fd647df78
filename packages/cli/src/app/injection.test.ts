/** Names of others that would steer a terminal. */
import { expect, test } from "vitest";
import { allCommands } from "./commands/all-commands.ts";
import { themeOf } from "./view/theme.ts";

/** A new title of the window, an empty screen, another reading direction, 8-bit controls. */
const HOSTILE = "evil\x1b]0;owned\x07\x1b[2J\u202e\x9b2J";

test("names of MCP tools, skills and memory files are lines without control characters", async () => {
  const said: string[] = [];
  const local = { mcp: [HOSTILE], skills: [HOSTILE], memory: [HOSTILE] };
  const host = {
    place: { local },
    theme: themeOf("dark", false),
    say: (...lines: string[]) => said.push(...lines),
  };
  for (const name of ["mcp", "skills", "memory"])
    await allCommands.find((command) => command.name === name)?.run(host as never, "");
  expect(said).toHaveLength(3);
  for (const line of said) expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});
