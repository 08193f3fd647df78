import { describe, expect, it } from "vitest";
import { sandboxOptions } from "./sandbox-kind.ts";
import { keptSandbox, placeOf, quoted, sandboxFlags, sandboxOfRun } from "./thread-sandbox.ts";

const HERE = "/home/me/project";
const given = (sandbox?: string, ...allowHost: string[]) =>
  sandboxOptions({ ...(sandbox === undefined ? {} : { sandbox }), allowHost });
const kept = (...words: Parameters<typeof given>) => ({ ...given(...words), directory: HERE });
const continueCommand = { directory: HERE, hasTask: false, isWaiting: true };
const withTask = { ...continueCommand, hasTask: true };

describe("the sandbox of a run", () => {
  it.each([[undefined], ["e2b"], ["docker:node:22"], ["off"]])(
    "is that of its thread, when nothing else is said: %s",
    (words) => {
      for (const now of [continueCommand, withTask])
        expect(sandboxOfRun(given(), kept(words), now)).toEqual(kept(words));
    },
  );

  it("is another one with a task, and what a thread had is not mixed into it", () => {
    expect(sandboxOfRun(given("os"), kept("os", "a.example"), withTask)).toEqual(kept("os"));
    expect(sandboxOfRun(given(undefined, "b.example"), kept(undefined, "a.example"), withTask).hosts).toEqual(
      ["b.example"],
    );
    const there = { ...withTask, directory: "/elsewhere" };
    expect(sandboxOfRun(given(), kept(), there).directory).toBe("/elsewhere");
  });

  it.each<[string, Parameters<typeof given>, Parameters<typeof given>]>([
    ["another kind", ["e2b"], ["os"]],
    ["no isolation", ["os"], ["none"]],
    ["commands where there were none", ["off"], ["os"]],
    ["another image", ["docker:a"], ["docker:b"]],
    ["the usual image", ["docker:a"], ["docker"]],
    ["another host", ["os", "a.example"], ["os", "b.example"]],
    ["a host more", [], [undefined, "a.example"]],
    ["no host", ["os", "a.example"], ["os"]],
  ])("without a task it is not changed: %s", (_, before, now) => {
    expect(() => sandboxOfRun(given(...now), kept(...before), continueCommand)).toThrow(
      expect.objectContaining({
        message: `This thread works with ${sandboxFlags(kept(...before))}, and its open calls do not run in another sandbox.`,
        hint: expect.stringContaining("Omit --sandbox and --allow-host to continue there"),
        exitCode: 2,
      }),
    );
  });

  it("without a task its directory is not changed either, and in a cloud there is none", () => {
    const elsewhere = { ...continueCommand, directory: "/elsewhere" };
    for (const words of [undefined, "docker", "off"])
      expect(() => sandboxOfRun(given(), kept(words), elsewhere)).toThrow(
        expect.objectContaining({ hint: expect.stringContaining(`Continue with --in ${HERE},`) }),
      );
    expect(sandboxOfRun(given(), kept("modal"), elsewhere).kind).toBe("modal");
  });

  it("may be named again in other words", () => {
    expect(sandboxOfRun(given("os"), kept(), continueCommand).isAskedFor).toBe(true);
    const [one, other] = [given("os", "a.example", "b.example"), kept("os", "b.example", "a.example")];
    expect(sandboxOfRun(one, other, continueCommand).kind).toBe("os");
  });

  it("is none only where that is said", () => {
    for (const now of [continueCommand, withTask])
      expect(() => sandboxOfRun(given(), kept("none"), now)).toThrow("That needs --sandbox none each time");
    expect(sandboxOfRun(given("none"), kept("none"), continueCommand).kind).toBe("none");
    expect(sandboxOfRun(given("os"), kept("none"), withTask).kind).toBe("os");
  });

  it("has to be said where calls wait and the thread has kept none", () => {
    expect(() => sandboxOfRun(given(), undefined, continueCommand)).toThrow("their sandbox is not known");
    expect(sandboxOfRun(given("os"), undefined, continueCommand)).toEqual(kept("os"));
    for (const now of [withTask, { ...continueCommand, isWaiting: false }])
      expect(sandboxOfRun(given(), undefined, now)).toEqual(kept());
  });

  it("reaches hosts in the os sandbox only", () => {
    expect(() => sandboxOfRun(given(undefined, "a.example"), kept("docker"), withTask)).toThrow(
      "--allow-host is for commands in the os sandbox; this thread works with --sandbox docker",
    );
  });
});

it("is read from a thread as it was written, and from nothing else", () => {
  for (const words of [[], ["docker:a b"], ["os", "a.example"]] as Parameters<typeof given>[])
    expect(placeOf(keptSandbox(JSON.parse(JSON.stringify(kept(...words)))) as never)).toBe(
      placeOf(kept(...words)),
    );
  for (const value of [undefined, null, "os", {}, { kind: "osx", hosts: [], directory: HERE }])
    expect(keptSandbox(value)).toBeUndefined();
});

it("is written as a shell reads it", () => {
  expect(sandboxFlags(given("docker:it's"))).toBe("--sandbox 'docker:it'\\''s'");
  expect([quoted("/a/b-c.d"), quoted("/a b"), quoted("*.example.com")]).toEqual([
    "/a/b-c.d",
    "'/a b'",
    "'*.example.com'",
  ]);
});
