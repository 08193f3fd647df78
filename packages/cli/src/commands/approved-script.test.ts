/** A person approves a command with the files it names. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { desk, runs } from "../test-support/desk.ts";

test("a script that changed after it was shown is not run; the next question shows the difference", async () => {
  const script = runs("bash run.sh");
  const { cwd, attended, files, told } = await desk([script, script], {
    "run.sh": "echo one\necho harmless > out\n",
  });
  const terminal = attended(["Work"]);
  await terminal.shows("The approval holds for /run.sh as it is now.");
  await terminal.shows("decision: ");
  await writeFile(join(cwd, "run.sh"), "echo one\necho evil > out\n");
  terminal.type("y\r");
  await terminal.shows("/run.sh changed since you were last asked:");
  expect(terminal.screen()).toContain("-echo harmless > out");
  expect(terminal.screen()).toContain("+echo evil > out");
  expect(told()).toContain("Nothing was run");
  expect(await files()).toEqual(["run.sh"]);
  await terminal.answer("decision: ", "n\r");
  await terminal.answer("reason", "\r");
  await terminal.ended;
  expect(await files()).toEqual(["run.sh"]);
});

test("the same holds for an answer in another process; the question says when files are not known", async () => {
  const { cwd, headless, files } = await desk([runs("bash run.sh"), runs("make all")], {
    "run.sh": "echo harmless > out\n",
  });
  const waiting = await headless(["Work", "--wait"]);
  expect(waiting.code).toBe(4);
  const thread = /thread: (\S+)/.exec(waiting.stderr)?.[1] as string;
  await writeFile(join(cwd, "run.sh"), "echo evil > out\n");
  const approved = await headless(["--thread", thread, "--approve", "--wait", "--json"]);
  expect(approved.stdout).toContain("/run.sh changed since this call was approved");
  expect(approved.stdout).toContain("Which files it reads is not known");
  expect(await files()).toEqual(["run.sh"]);
});

test("with --yes a script that nobody changes runs", async () => {
  const { headless, files } = await desk([runs("bash run.sh")], { "run.sh": "echo harmless > out\n" });
  expect((await headless(["Work", "--yes"])).code).toBe(0);
  expect(await files()).toEqual(["out", "run.sh"]);
});
