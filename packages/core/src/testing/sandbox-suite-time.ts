import { pause, type SandboxCase, type SandboxPlace } from "./sandbox-suite-case.ts";
import { ensure, same, show, thrown } from "./suite-check.ts";

const TIMED_OUT = 124;

/** Commands that would run for a minute, by what makes them hard to stop. */
const LONG: readonly (readonly [name: string, command: string])[] = [
  ["a command whose time is up is stopped, with exit code 124", "sleep 60"],
  ["SH-02 so is one with a child in the background that keeps the output open", "sleep 60 & sleep 60"],
  ["SH-03 so is one that does not want to end", "trap '' TERM; sleep 60; sleep 60"],
  ["so is one that is busy", "while true; do :; done"],
  ["so is one that writes without end", "yes"],
  ["so is a pipeline", "sleep 60 | cat | cat"],
  ["so is one that writes without end and does not want to end", "trap '' TERM HUP INT; yes"],
  [
    "so is one whose child does not want to end",
    "sh -c \"trap '' TERM HUP INT; sleep 60; sleep 60\"; sleep 60",
  ],
];

export const timeCases: readonly SandboxCase[] = [
  ...LONG.map(
    ([name, command]): SandboxCase => ({
      name,
      run: async (place) => same((await place.within(1, command, { timeout: 1 })).exitCode, TIMED_OUT),
    }),
  ),
  {
    name: "what was written until the time was up is kept",
    run: async (place) => {
      const { output } = await place.within(1, "echo early; sleep 60; echo late", { timeout: 1 });
      same(output, "early\n", "output");
    },
  },
  {
    name: "a time of part of a second is kept to",
    run: async (place) => {
      const start = Date.now();
      same((await place.within(0.3, "sleep 60", { timeout: 0.3 })).exitCode, TIMED_OUT, "exit code");
      ensure(Date.now() - start >= 250, `it was stopped after ${Date.now() - start} ms`);
    },
  },
  {
    name: "of a flood until the time was up the beginning is kept",
    run: async (place) => {
      const { output, exitCode } = await place.within(1, "echo first; yes 0123456789", { timeout: 1 });
      same(exitCode, TIMED_OUT, "exit code");
      ensure(output.startsWith("first\n0123456789\n"), `got ${show(output.slice(0, 40))}`);
      ensure(output.length < 20_000_000, `${output.length} characters are kept`);
    },
  },
  {
    name: "what a stopped command had started is ended whatever signals it ignores",
    run: async (place) => {
      const stubborn = "trap '' TERM HUP INT; while true; do echo x > alive.txt; sleep 0.2; done";
      await place.within(1, `(${stubborn}) & ${stubborn}`, { timeout: 1 });
      await place.output("rm -f alive.txt");
      await pause(1000);
      ensure(!(await place.isThere("alive.txt")), "it is still alive");
    },
  },
  {
    name: "a command that is quick enough does not notice its time",
    run: async (place) => same(await place.output("sleep 0.2; echo done", { timeout: 30 }), "done\n"),
  },
  {
    name: "after a command that was stopped the next one runs",
    run: async (place) => {
      await place.within(1, "sleep 60", { timeout: 0.5 });
      same(await place.output("echo next"), "next\n");
    },
  },
  {
    name: "what a stopped command had started does nothing any more",
    run: async (place) => {
      await place.within(1, "(sleep 3; echo alive > alive.txt) & sleep 60", { timeout: 1 });
      await pause(4000);
      ensure(!(await place.isThere("alive.txt")), "its child is still alive");
    },
  },
  {
    name: "SH-04 a process in the background does not hold up the answer",
    run: async (place) => {
      const quiet = await place.within(1, "nohup sleep 60 >/dev/null 2>&1 & echo started");
      same([quiet.exitCode, quiet.output], [0, "started\n"]);
      const open = await place.within(2, "sleep 60 & echo started");
      same([open.exitCode, open.output], [0, "started\n"]);
    },
  },
  {
    name: "SH-04 a process in the background ends with its command",
    run: async (place) => {
      if (place.options.endsBackgroundProcesses === false) return;
      await place.output("(sleep 2; echo alive > alive.txt) >/dev/null 2>&1 & true");
      await pause(3500);
      ensure(!(await place.isThere("alive.txt")), "it is still alive");
    },
  },
  {
    name: "SH-13 an abort is thrown with its reason, and soon",
    run: async (place) => {
      const reason = new Error("enough");
      const { start, error } = await aborted(place, "sleep 60", reason);
      place.checkTook(start, 1, "the abort");
      ensure(error === reason, `expected the reason of the signal, got ${show(String(error))}`);
    },
  },
  {
    name: "SH-13 an abort ends the command",
    run: async (place) => {
      await aborted(place, "sleep 3; echo alive > alive.txt", new Error("enough"));
      await pause(4000);
      ensure(!(await place.isThere("alive.txt")), "it went on");
    },
  },
  {
    name: "a command whose signal was aborted before does not run",
    run: async (place) => {
      const signal = AbortSignal.abort(new Error("never"));
      await thrown(() => place.run("echo ran > ran.txt", { signal }));
      ensure(!(await place.isThere("ran.txt")), "it ran");
    },
  },
  {
    name: "after an abort the next command runs",
    run: async (place) => {
      await aborted(place, "sleep 60", new Error("enough"));
      same(await place.output("echo next"), "next\n");
    },
  },
  {
    name: "commands at the same time keep their outputs and exit codes apart",
    run: async (place) => {
      const numbers = Array.from({ length: 8 }, (_, index) => index);
      const responses = await Promise.all(
        numbers.map((n) => place.run(`echo begin ${n}; sleep 0.3; echo end ${n}; exit ${n}`)),
      );
      same(
        responses.map(({ output, exitCode }) => [output, exitCode]),
        numbers.map((n) => [`begin ${n}\nend ${n}\n`, n]),
      );
    },
  },
  {
    name: "one command whose time is up does not end the others",
    run: async (place) => {
      const [stopped, other] = await Promise.all([
        place.run("sleep 60", { timeout: 0.5 }),
        place.run("sleep 2; echo whole"),
      ]);
      same([stopped.exitCode, other.exitCode, other.output], [TIMED_OUT, 0, "whole\n"]);
    },
  },
];

async function aborted(
  place: SandboxPlace,
  command: string,
  reason: Error,
): Promise<{ start: number; error: unknown }> {
  const controller = new AbortController();
  const running = thrown(() => place.run(command, { signal: controller.signal }), "an aborted command");
  await pause(500);
  const start = Date.now();
  controller.abort(reason);
  return { error: await running, start };
}
