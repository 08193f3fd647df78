import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { confirmed, type Person } from "./confirm.ts";

function person(isTTY: boolean): { person: Person; type: (text: string) => void; leave: () => void } {
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  Object.assign(stdin, { isTTY });
  Object.assign(stderr, { isTTY });
  return {
    person: { stdin, stderr } as never,
    type: (text) => stdin.write(text),
    leave: () => stdin.end(),
  };
}

describe("asking a person", () => {
  it.each([
    ["y\n", true],
    ["Yes\n", true],
    ["n\n", false],
    ["\n", false],
    ["yellow\n", false],
  ])("%j", async (typed, isMeant) => {
    const { person: asked, type } = person(true);
    const answer = confirmed("Delete?", asked);
    type(typed);
    expect(await answer).toBe(isMeant);
  });

  it("one who leaves has said no", async () => {
    const { person: asked, leave } = person(true);
    const answer = confirmed("Delete?", asked);
    leave();
    expect(await answer).toBe(false);
  });

  it("Ctrl-D says no, Ctrl-C ends the command", async () => {
    for (const [key, end] of [
      ["\x04", { isMeant: false }],
      ["\x03", { exitCode: 130 }],
    ] as const) {
      const { person: asked, type } = person(true);
      const answer = confirmed("Delete?", asked).then((isMeant) => ({ isMeant }));
      type(key);
      expect(await answer.catch((error: unknown) => error)).toMatchObject(end);
    }
  });

  it("where nobody is, it is wrong usage", async () => {
    await expect(confirmed("Delete?", person(false).person)).rejects.toMatchObject({
      exitCode: 2,
      hint: "Confirm with --yes.",
    });
  });
});
