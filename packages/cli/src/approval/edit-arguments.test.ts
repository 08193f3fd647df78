/** The editor of a person: where it starts, and what it is given. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { editedArguments } from "./edit-arguments.ts";

test("the editor starts in a private directory with the variables of the person, and changes the arguments", async () => {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "editor-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  process.env.ONLY_OF_THE_PROCESS = "1";
  onTestFinished(() => {
    delete process.env.ONLY_OF_THE_PROCESS;
  });
  const seen = join(directory, "seen");
  const EDITOR = `sh -c '{ pwd -P; echo "$ONLY_OF_THE_PROCESS$MINE"; } > "$SEEN"; echo "{\\"a\\":2}" > "$0"'`;
  const environment = { PATH: process.env.PATH, SEEN: seen, MINE: "mine", EDITOR };
  const edited = await editedArguments({ a: 1 }, undefined as never, environment);
  expect(edited).toEqual({ args: { a: 2 } });
  const [place, variables] = readFileSync(seen, "utf8").split("\n");
  expect(place).toContain("deepwright-edit-");
  expect(variables).toBe("mine");
});
