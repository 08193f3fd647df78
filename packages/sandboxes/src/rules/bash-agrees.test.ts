/** Allowed commands are held against real shells: they must see the words that were judged, once, and nothing else. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { createCommandRules } from "./create-command-rules.ts";
import { READ_ONLY_COMMANDS } from "./read-only-commands.ts";

const PROGRAMS = ["git", "ls", "cat", "head", "tail", "wc", "find", "grep", "rg", "id", "curl"];
const SHELLS = ["/bin/bash", "/bin/sh"];
const RUNS = sized(1_500, 6_000);

const scratch = mkdtempSync(join(tmpdir(), "deepwright-argv-"));
const [stubs, work, log] = ["stubs", "work", "log"].map((name) => join(scratch, name)) as [
  string,
  string,
  string,
];
for (const directory of [stubs, work]) mkdirSync(directory);
for (const program of PROGRAMS) {
  const stub = `#!/bin/sh\nprintf '%s\\0' ${program} "$@" >> '${log}'\nprintf '\\n\\0' >> '${log}'\n`;
  writeFileSync(join(stubs, program), stub);
  chmodSync(join(stubs, program), 0o755);
}
writeFileSync(join(work, "a.txt"), "");
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The words of every program a shell starts for this command, where the programs do nothing but tell. */
function started(shell: string, command: string): readonly (readonly string[])[] {
  rmSync(log, { force: true });
  const env = { PATH: stubs, HOME: work, LANG: "C.UTF-8" };
  spawnSync(shell, ["-c", command], { cwd: work, env, stdio: "ignore", timeout: 600_000 });
  if (!existsSync(log)) return [];
  const calls = readFileSync(log, "utf8").split("\n\0").slice(0, -1);
  return calls.map((call) => call.split("\0").slice(0, -1));
}

const rules = createCommandRules(READ_ONLY_COMMANDS);
const allowed = READ_ONLY_COMMANDS.flatMap(({ examples }) => examples.match).filter((command) =>
  PROGRAMS.includes(command.split(" ")[0] as string),
);

const META = [
  ...[
    "'",
    '"',
    "\\",
    "$",
    "`",
    "$(",
    ")",
    "${",
    "}",
    "{",
    ",",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "!",
    "~",
    "*",
    "?",
    "[",
    "]",
  ],
  ...[
    "#",
    " #",
    "<",
    ">",
    ">>",
    "2>&1",
    "<(",
    "\n",
    "\r",
    "\t",
    " ",
    "=",
    "^",
    "%",
    "@",
    "+(",
    "$'",
    '$"',
    "\u00a0",
    "\u200b",
  ],
  ...[
    "id",
    " id ",
    ";id",
    "$(id)",
    "`id`",
    "|id",
    "\nid\n",
    "'id'",
    "x=1 ",
    "$IFS",
    "{a,b}",
    "~root",
    "<<E\n",
    "\\\n",
    "-",
    "--",
  ],
  ..."aé/.:_ ",
];

const mutated = fc
  .record({
    command: fc.constantFrom(...allowed),
    inserts: fc.array(fc.tuple(fc.nat(), fc.constantFrom(...META)), { minLength: 1, maxLength: 4 }),
  })
  .map(({ command, inserts }) =>
    inserts.reduce((text, [place, piece]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + piece + text.slice(at);
    }, command),
  );

describe("real shells see what was judged", () => {
  it("every example of the built-in rules is one call with its very words", () => {
    for (const command of allowed)
      expect([command, ...started("/bin/bash", command)]).toEqual([command, rules.judge(command).words]);
  });

  it("whatever is put into an allowed command, it is allowed only as one call with the same words", () => {
    const seen = new Set<string>();
    let judged = 0;
    fc.assert(
      fc.property(mutated, (command) => {
        judged += 1;
        const { decision, words } = rules.judge(command);
        if (decision !== "allow" || seen.has(command)) return;
        seen.add(command);
        for (const shell of SHELLS) expect([command, ...started(shell, command)]).toEqual([command, words]);
      }),
      { numRuns: RUNS },
    );
    // The check would be worth nothing if no such command were ever allowed, or every one.
    expect(seen.size).toBeGreaterThan(RUNS / 60);
    expect(seen.size).toBeLessThan(judged / 2);
    expect(readdirSync(work)).toEqual(["a.txt"]);
  });

  it("no text makes the judge throw", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          mutated,
          fc.string({ unit: "binary" }),
          fc.array(fc.constantFrom(...META)).map((all) => all.join("")),
        ),
        (text) => {
          expect(["allow", "ask"]).toContain(rules.judge(text).decision);
        },
      ),
      { numRuns: sized(1_000, 3_000) },
    );
  });
});
