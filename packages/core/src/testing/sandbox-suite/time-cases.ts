import type { ExecuteResponse } from "../../backends/backend.ts";
import { ensure, SuiteFailure, same, show, thrown } from "../suite/suite-check.ts";
import { pause, type SandboxCase, type SandboxUnderTest } from "./sandbox-case.ts";

const TIMED_OUT = 124;
/** Seconds a command gets that has to do something before its time is up: a slow place begins it late. */
const TIMES = [1, 4, 16];
/** Milliseconds in which a command begins that is to be aborted while it runs. */
const BEGINS_WITHIN = 5000;
/** Milliseconds in which a command that is alive does what it waits to do. */
const LONG_ENOUGH = 1000;

/** For a command: waits for the file `go`, and then leaves a file by which it is found to be alive. */
const WAITS_TO_SHOW = "until [ -e go ]; do sleep 0.1; done; echo alive > alive.txt";

/** Commands that run longer than a case may take, by what makes them hard to stop. */
const LONG: readonly (readonly [name: string, command: string])[] = [
  ["a command whose time is up is stopped, with exit code 124", "sleep 300"],
  ["SH-02 so is one with a child in the background that keeps the output open", "sleep 300 & sleep 300"],
  ["SH-03 so is one that does not want to end", "trap '' TERM; sleep 300; sleep 300"],
  ["so is one that is busy", "while true; do :; done"],
  ["so is one that writes without end", "yes"],
  ["so is a pipeline", "sleep 300 | cat | cat"],
  ["so is one that writes without end and does not want to end", "trap '' TERM HUP INT; yes"],
  [
    "so is one whose child does not want to end",
    "sh -c \"trap '' TERM HUP INT; sleep 300; sleep 300\"; sleep 300",
  ],
];

export const timeCases: readonly SandboxCase[] = [
  ...LONG.map(
    ([name, command]): SandboxCase => ({
      name,
      run: async (subject) => same((await subject.within(1, command, { timeout: 1 })).exitCode, TIMED_OUT),
    }),
  ),
  {
    name: "what was written until the time was up is kept",
    run: async (subject) => {
      const { output } = await outOfTime(subject, "echo early", "sleep 300; echo late");
      same(output, "early\n", "output");
    },
  },
  {
    name: "a time of part of a second is kept to",
    run: async (subject) => {
      const start = Date.now();
      same((await subject.within(0.3, "sleep 300", { timeout: 0.3 })).exitCode, TIMED_OUT, "exit code");
      ensure(Date.now() - start >= 250, `it was stopped after ${Date.now() - start} ms`);
    },
  },
  {
    name: "of a flood until the time was up the beginning is kept",
    run: async (subject) => {
      const { output, exitCode } = await outOfTime(subject, "echo first; echo 0123456789", "yes 0123456789");
      same(exitCode, TIMED_OUT, "exit code");
      ensure(output.startsWith("first\n0123456789\n"), `got ${show(output.slice(0, 40))}`);
      ensure(output.length < 20_000_000, `${output.length} characters are kept`);
    },
  },
  {
    name: "what a stopped command had started is ended whatever signals it ignores",
    run: async (subject) => {
      const stubborn = "trap '' TERM HUP INT; while true; do echo x > alive.txt; sleep 0.2; done";
      await subject.within(1, `(${stubborn}) & ${stubborn}`, { timeout: 1 });
      await subject.output("rm -f alive.txt");
      await pause(LONG_ENOUGH);
      ensure(!(await subject.isThere("alive.txt")), "it is still alive");
    },
  },
  {
    name: "a command that is quick enough does not notice its time",
    run: async (subject) => same(await subject.output("sleep 0.2; echo done", { timeout: 60 }), "done\n"),
  },
  {
    name: "after a command that was stopped the next one runs",
    run: async (subject) => {
      await subject.within(1, "sleep 300", { timeout: 0.5 });
      same(await subject.output("echo next"), "next\n");
    },
  },
  {
    name: "what a stopped command had started does nothing any more",
    run: async (subject) => {
      await subject.within(1, `(${WAITS_TO_SHOW}) & sleep 300`, { timeout: 1 });
      ensure(!(await showsAfterGo(subject)), "its child is still alive");
    },
  },
  {
    name: "SH-04 a process in the background does not hold up the answer",
    run: async (subject) => {
      const quiet = await subject.within(1, "nohup sleep 300 >/dev/null 2>&1 & echo started");
      same([quiet.exitCode, quiet.output], [0, "started\n"]);
      const open = await subject.within(2, "sleep 300 & echo started");
      same([open.exitCode, open.output], [0, "started\n"]);
    },
  },
  {
    name: "SH-04 a process in the background ends with its command",
    run: async (subject) => {
      if (subject.options.endsBackgroundProcesses === false) return;
      await subject.output(`(${WAITS_TO_SHOW}) >/dev/null 2>&1 & true`);
      ensure(!(await showsAfterGo(subject)), "it is still alive");
    },
  },
  {
    name: "SH-13 an abort is thrown with its reason, and soon",
    run: async (subject) => {
      const reason = new Error("enough");
      const { start, error } = await aborted(subject, "sleep 300", reason);
      subject.checkTook(start, 1, "the abort");
      ensure(error === reason, `expected the reason of the signal, got ${show(String(error))}`);
    },
  },
  {
    name: "SH-13 an abort ends the command",
    run: async (subject) => {
      await aborted(subject, WAITS_TO_SHOW, new Error("enough"));
      ensure(!(await showsAfterGo(subject)), "it went on");
    },
  },
  {
    name: "a command whose signal was aborted before does not run",
    run: async (subject) => {
      const signal = AbortSignal.abort(new Error("never"));
      await thrown(() => subject.run("echo ran > ran.txt", { signal }));
      ensure(!(await subject.isThere("ran.txt")), "it ran");
    },
  },
  {
    name: "after an abort the next command runs",
    run: async (subject) => {
      await aborted(subject, "sleep 300", new Error("enough"));
      same(await subject.output("echo next"), "next\n");
    },
  },
  {
    name: "commands at the same time keep their outputs and exit codes apart",
    run: async (subject) => {
      const numbers = Array.from({ length: 8 }, (_, index) => index);
      const responses = await Promise.all(
        numbers.map((n) => subject.run(`echo begin ${n}; sleep 0.3; echo end ${n}; exit ${n}`)),
      );
      same(
        responses.map(({ output, exitCode }) => [output, exitCode]),
        numbers.map((n) => [`begin ${n}\nend ${n}\n`, n]),
      );
    },
  },
  {
    name: "one command whose time is up does not end the others",
    run: async (subject) => {
      const [stopped, other] = await Promise.all([
        subject.run("sleep 300", { timeout: 0.5 }),
        subject.run("sleep 2; echo whole"),
      ]);
      same([stopped.exitCode, other.exitCode, other.output], [TIMED_OUT, 0, "whole\n"]);
    },
  },
];

/** The response to a command whose time is up when it has done its `first` part. */
async function outOfTime(subject: SandboxUnderTest, first: string, rest: string): Promise<ExecuteResponse> {
  for (const timeout of TIMES) {
    const response = await subject.within(timeout, `${first}; : > begun; ${rest}`, { timeout });
    if (await subject.isThere("begun")) return response;
  }
  throw new SuiteFailure(`${show(first)} was not done in ${TIMES.at(-1)} s`);
}

/** Whether a command that waits for the file `go` is still alive. */
async function showsAfterGo(subject: SandboxUnderTest): Promise<boolean> {
  await subject.output(": > go");
  await pause(LONG_ENOUGH);
  return await subject.isThere("alive.txt");
}

/** Runs a command, and aborts it once it has begun. */
async function aborted(
  subject: SandboxUnderTest,
  command: string,
  reason: Error,
): Promise<{ start: number; error: unknown }> {
  const controller = new AbortController();
  const { signal } = controller;
  const running = thrown(() => subject.run(`: > begun; ${command}`, { signal }), "an aborted command");
  running.catch(() => undefined);
  await hasBegun(subject);
  const start = Date.now();
  controller.abort(reason);
  return { error: await running, start };
}

/** Does not wait for long: a place may do one thing after another. */
async function hasBegun(subject: SandboxUnderTest): Promise<void> {
  let isOver = false;
  const begun = async (): Promise<void> => {
    while (!isOver && !(await subject.isThere("begun").catch(() => true))) await pause(50);
  };
  await Promise.race([begun(), pause(BEGINS_WITHIN)]);
  isOver = true;
}
