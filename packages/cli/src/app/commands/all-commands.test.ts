import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { ACTION_NAMES, keyWords } from "../keys/bindings.ts";
import { themeOf } from "../view/theme.ts";
import { allCommands } from "./all-commands.ts";

const guide = await readFile(new URL("../../../../../docs/terminal.md", import.meta.url), "utf8");

test("help and the guide list every command, and the guide lists no other", () => {
  const said: string[] = [];
  const host = {
    commands: allCommands,
    theme: themeOf("dark", false),
    keybindings: {},
    say: (...lines: string[]) => said.push(...lines),
  };
  allCommands.find(({ name }) => name === "help")?.run(host as never, "");
  const names = allCommands.map(({ name }) => name).sort();
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(said.join("\n")).toMatch(new RegExp(`^  /${name}\\b`, "m"));
  const table = guide.slice(guide.indexOf("## Commands"), guide.indexOf("## Options"));
  const rows = table.split("\n").filter((row) => row.startsWith("| `/"));
  const documented = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`\/([a-z]+)/g)]);
  expect(documented.map(([, name]) => name).sort()).toEqual(names);
});

test("the guide names the keys of every action", () => {
  for (const name of ACTION_NAMES) expect(guide).toContain(keyWords(name));
});
