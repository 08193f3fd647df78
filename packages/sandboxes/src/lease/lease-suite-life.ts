/** Cases about opening a sandbox, finding it again, and its end. */
import type { OpenedSandbox } from "../provider.ts";
import {
  check,
  checkLost,
  checkSame,
  type LeaseCase,
  type LeaseScene,
  NEEDS,
  outputOf,
  pause,
  thrownBy,
} from "./lease-suite-case.ts";

const ODD_VALUES = {
  SUITE_PLAIN: "plain",
  SUITE_ODD: 'it\'s "odd" $HOME `x` \\n; é€😀',
  SUITE_LINES: "one\ntwo",
};

/** Seconds of a command that does not end by itself in a case. */
const LONG = 600;

export const openingCases: readonly LeaseCase[] = [
  {
    name: "says what it is before anything is opened",
    run: async ({ provider }) => {
      check(/^[a-z0-9-]+$/.test(provider.name), `the name '${provider.name}' is not one for a command line`);
      check(["none", "allow-list", "open"].includes(provider.network), `network is '${provider.network}'`);
      check(provider.workingDirectory.startsWith("/"), "the working directory is not absolute");
    },
  },
  {
    name: "opens a place that has an id and runs commands",
    run: async (scene) => {
      const opened = await scene.open();
      check(opened.id !== "", "the id is empty");
      check(opened.sandbox.id !== "", "the id of the sandbox is empty");
      checkSame(await outputOf(opened, "echo hello"), "hello\n", "output");
    },
  },
  {
    name: "commands start in the working directory, where relative paths lie",
    run: async (scene) => {
      const opened = await scene.open();
      const { provider } = scene;
      if (provider.commandNote === undefined)
        checkSame((await outputOf(opened, "pwd")).trim(), provider.workingDirectory, "directory");
      await outputOf(opened, "echo here > suite-note.txt");
      const read = await opened.sandbox.readRaw(scene.at("suite-note.txt"));
      checkSame(read.data?.content, "here\n", "content");
    },
  },
  {
    name: "every command sees the variables it was opened with, byte for byte",
    run: async (scene) => {
      const opened = await scene.open({ env: ODD_VALUES });
      for (const [name, value] of Object.entries(ODD_VALUES))
        for (const _ of ["first", "again"])
          checkSame(await outputOf(opened, `printf '%s' "$${name}"`), value, name);
    },
  },
  {
    name: "places that are opened at once are places of their own",
    needs: [NEEDS.ownSandboxes],
    run: async (scene) => {
      const opened = await Promise.all([scene.open(), scene.open(), scene.open()]);
      checkSame(new Set(opened.map(({ id }) => id)).size, 3, "ids");
      if (scene.options.sharesFiles) return;
      await Promise.all(opened.map((one, index) => outputOf(one, `echo ${index} > suite-own.txt`)));
      const found = await Promise.all(opened.map((one) => outputOf(one, "cat suite-own.txt")));
      checkSame(found, ["0\n", "1\n", "2\n"], "content");
    },
  },
  {
    name: "a request that was stopped before it began opens nothing",
    run: async (scene) => {
      const request = scene.request({ signal: AbortSignal.abort(new Error("stopped before")) });
      const error = await thrownBy(() => scene.open(request));
      checkSame((error as Error).message, "stopped before", "reason");
      await checkNothingLeft(scene, request.key);
    },
  },
  ...[1, 20, 100].map(
    (milliseconds): LeaseCase => ({
      name: `a request that is stopped after ${milliseconds} ms leaves nothing behind`,
      run: async (scene) => {
        const controller = new AbortController();
        const request = scene.request({ signal: controller.signal });
        const opening = scene.provider.open(request);
        const timer = setTimeout(() => controller.abort(new Error("stopped meanwhile")), milliseconds);
        const outcome = await opening.then(
          (opened) => scene.keep(opened),
          (error: Error) => error,
        );
        clearTimeout(timer);
        if (outcome instanceof Error) checkSame(outcome.message, "stopped meanwhile", "reason");
        else await outcome.destroy();
        await checkNothingLeft(scene, request.key);
      },
    }),
  ),
];

export const findingCases: readonly LeaseCase[] = [
  {
    name: "what was let go of is found again with its files, by another process",
    needs: [NEEDS.reattach],
    run: async (scene) => {
      const opened = await scene.open();
      await outputOf(opened, "echo kept > suite-kept.txt");
      await opened.detach();
      await opened.detach();
      const again = await scene.reattach(opened.id);
      check(again !== undefined, "it is gone");
      checkSame(again.id, opened.id, "id");
      checkSame(await outputOf(again, "cat suite-kept.txt"), "kept\n", "content");
    },
  },
  {
    name: "what is found again has the variables of the one who found it",
    needs: [NEEDS.reattach],
    run: async (scene) => {
      const opened = await scene.open({ env: { SUITE_ENV: "first" } });
      await opened.detach();
      const again = await scene.reattach(opened.id, { env: { SUITE_ENV: "second" } });
      check(again !== undefined, "it is gone");
      checkSame(await outputOf(again, 'echo "$SUITE_ENV"'), "second\n", "variable");
    },
  },
  {
    name: "it can be found by its key, and by no other",
    needs: [NEEDS.find],
    run: async (scene) => {
      const request = scene.request();
      checkSame(await scene.provider.find?.(request.key), [], "places before");
      const opened = await scene.open(request);
      await scene.open();
      await scene.until("that it is found", async () => {
        const found = await scene.another().find?.(request.key);
        return found?.length === 1 && found[0] === opened.id;
      });
    },
  },
  {
    name: "one that was destroyed is gone",
    needs: [NEEDS.reattach, NEEDS.ownSandboxes],
    run: async (scene) => {
      const opened = await scene.open();
      await opened.destroy();
      checkSame((await scene.reattach(opened.id))?.id, undefined, "place that was destroyed");
    },
  },
];

export const endingCases: readonly LeaseCase[] = [
  {
    name: "destroying twice is safe, and nothing is left to find",
    run: async (scene) => {
      const request = scene.request();
      const opened = await scene.open(request);
      await Promise.all([opened.destroy(), opened.destroy()]);
      await opened.destroy();
      await opened.detach();
      await checkNothingLeft(scene, request.key);
    },
  },
  {
    name: "a place that nobody holds can be ended by its id, and once more",
    needs: [NEEDS.destroy, NEEDS.reattach],
    run: async (scene) => {
      const opened = await scene.open();
      await opened.detach();
      await scene.another().destroy?.(opened.id);
      await scene.another().destroy?.(opened.id);
      await scene.until("that it is gone", async () => (await scene.reattach(opened.id)) === undefined);
    },
  },
  {
    name: "R-38 a command that runs when its place ends is a SANDBOX_LOST, soon",
    needs: [NEEDS.ownSandboxes],
    run: async (scene) => {
      const opened = await scene.open();
      const running = await longCommand(scene, opened);
      await opened.destroy();
      checkLost(await scene.soon("the end of the command", running()));
    },
  },
  {
    name: "R-38 a command that runs when another process ends its place is a SANDBOX_LOST, soon",
    needs: [NEEDS.destroy],
    run: async (scene) => {
      const opened = await scene.open();
      const running = await longCommand(scene, opened);
      await scene.another().destroy?.(opened.id);
      checkLost(await scene.soon("the end of the command", running()));
      checkLost(await thrownBy(async () => opened.sandbox.execute("echo later")));
    },
  },
  {
    name: "commands and files of a place that ended are a SANDBOX_LOST",
    needs: [NEEDS.ownSandboxes],
    run: async (scene) => {
      const opened = await scene.open();
      await opened.destroy();
      checkLost(await thrownBy(async () => opened.sandbox.execute("echo later")));
      checkLost(await thrownBy(async () => opened.sandbox.readRaw(scene.at("later.txt"))));
    },
  },
  {
    name: "a borrowed sandbox goes on with its files and its commands, however it is let go of",
    needs: [NEEDS.borrowedSandbox],
    run: async (scene) => {
      const opened = await scene.open();
      const { key } = scene.request();
      const wait = `echo > ${key}-begun; until [ -e ${key}-go ]; do sleep 1; done; cat suite-lent.txt`;
      const going = outputOf(await scene.open(), wait, { timeout: LONG });
      going.catch(() => {});
      await scene.written(opened, `${key}-begun`);
      await outputOf(opened, "echo lent > suite-lent.txt");
      await opened.destroy();
      const again = await scene.open();
      checkSame(again.id, opened.id, "id");
      checkSame(await outputOf(again, `echo > ${key}-go; cat suite-lent.txt`), "lent\n", "content");
      checkSame(await going, "lent\n", "output of a command that ran meanwhile");
    },
  },
  {
    name: "a borrowed sandbox keeps no temporary files of ours when it is let go of",
    needs: [NEEDS.borrowedSandbox],
    run: async (scene) => {
      const list = 'ls -a "$TMPDIR" /tmp 2>/dev/null | grep -E "^[.]deepwright-(files|upload)-" || true';
      const other = await scene.open();
      const before = (await outputOf(other, list)).split("\n");
      for (const end of ["detach", "destroy"] as const) {
        const opened = await scene.open();
        await opened.sandbox.write(scene.at("suite-kept.txt"), "kept\n".repeat(50_000));
        await opened[end]();
        await opened[end]();
        // Files of another case that runs at the same time come and go.
        await scene.until("that temporary files are removed", async () => {
          const there = (await outputOf(other, list)).split("\n");
          return there.every((line) => before.includes(line));
        });
      }
    },
  },
  {
    name: "it can be told that it is still needed",
    run: async (scene) => {
      const opened = await scene.open({ ttl: 600 });
      await opened.keepAlive?.();
      await opened.keepAlive?.();
      checkSame(await outputOf(opened, "echo awake"), "awake\n", "output");
    },
  },
  {
    name: "a place without use ends after its time, at the latest when the next one is opened",
    needs: [NEEDS.ttl, NEEDS.find],
    run: (scene) =>
      withTtl(scene, async (ttl, call) => {
        const request = scene.request({ ttl });
        const opened = await call(() => scene.open(request));
        await opened.detach();
        await pause(ttl * 1000 + 200);
        await scene.open();
        await checkNothingLeft(scene, request.key);
      }),
  },
  {
    name: "a place that is told so in time stays longer than its time",
    needs: [NEEDS.ttl],
    run: (scene) =>
      withTtl(scene, async (ttl, call) => {
        const opened = await call(() => scene.open({ ttl }));
        for (let times = 0; times < 6; times++) {
          await call(async () => opened.keepAlive?.());
          await pause(ttl * 250);
        }
        checkSame(await call(() => outputOf(opened, "echo awake")), "awake\n", "output");
      }),
  },
];

/**
 * Starts a command that does not end by itself, and returns when it runs. The returned function waits for its error.
 */
async function longCommand(scene: LeaseScene, opened: OpenedSandbox): Promise<() => Promise<unknown>> {
  const file = `${scene.request().key}-begun`;
  const running = thrownBy(async () =>
    opened.sandbox.execute(`echo > ${file}; sleep ${LONG}`, { timeout: LONG }),
  );
  running.catch(() => {});
  await scene.written(opened, file);
  return () => running;
}

/** Runs one call and notes how much time has passed since the call before it began. */
type TimedCall = <Value>(act: () => Promise<Value>) => Promise<Value>;

/** Repeats a case with twice the time when it failed and its calls were too slow for the time it had. */
async function withTtl(
  scene: LeaseScene,
  act: (ttl: number, call: TimedCall) => Promise<void>,
): Promise<void> {
  for (let ttl = scene.ttl; ; ttl *= 2) {
    let before = performance.now();
    let longest = 0;
    const call: TimedCall = async (one) => {
      const start = performance.now();
      try {
        return await one();
      } finally {
        longest = Math.max(longest, performance.now() - before);
        before = start;
      }
    };
    try {
      return await act(ttl, call);
    } catch (error) {
      if (longest < ttl * 500 || ttl > scene.slack) throw error;
    }
  }
}

async function checkNothingLeft(scene: LeaseScene, key: string): Promise<void> {
  if (scene.provider.find === undefined) return;
  await scene.until("that nothing is found", async () => (await scene.another().find?.(key))?.length === 0);
}
