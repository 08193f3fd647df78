/** Harbor tasks of our own, in the sandbox of the operating system. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { dockerSandbox } from "@deepwright/sandboxes/docker";
import { osSandbox } from "@deepwright/sandboxes/os";
import { callTool, fault, type Script, say, scriptedModel } from "deepwright/testing";
import { expect, onTestFinished, test } from "vitest";
import type { EvalCase } from "../format/eval-case.ts";
import { loadSuites } from "../format/load-suite.ts";
import { deepwrightHarness } from "../harness/deepwright-harness.ts";
import { liveSource } from "../runner/model-source.ts";
import { runEvals } from "../runner/run-evals.ts";
import { readHarborTask } from "./harbor-task.ts";
import { runHarborTask } from "./run-harbor.ts";

const TASK: Readonly<Record<string, string>> = {
  "task.toml": `schema_version = "1.3"
[task]
name = "deepwright/sum"
[agent]
timeout_sec = 120.0
[verifier]
timeout_sec = 60.0
[environment]
cpus = 1
`,
  "instruction.md": "Write the sum of the numbers in /app/data/numbers.txt to /app/sum.txt.",
  "environment/Dockerfile":
    "# Two files\nFROM debian\nWORKDIR /app\nENV GREETING=hello\nCOPY data/ ./data/\n",
  "environment/data/numbers.txt": "1\n2\n",
  "tests/expected.txt": "3",
  "tests/test.sh": `cd /app
echo "$GREETING from the tests"
if [ "$(cat sum.txt)" = "$(cat /tests/expected.txt)" ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
`,
};

function taskDirectory(changes: Readonly<Record<string, string | undefined>> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), "harbor-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [path, content] of Object.entries({ ...TASK, ...changes })) {
    if (content === undefined) continue;
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  return directory;
}

async function run(script: Script) {
  const model = scriptedModel(script);
  const task = await readHarborTask(taskDirectory());
  return { ...(await runHarborTask(task, { sandbox: osSandbox(), model })), model };
}

const shell = (command: string) => callTool("execute", { command });

test("a task is solved by an agent that works in the sandbox, and its tests say so", async () => {
  const { reward, output, model, error } = await run([
    shell("cat data/numbers.txt; ls -a; echo 3 > sum.txt"),
    say("Done."),
  ]);
  expect({ reward, output, error }).toEqual({
    reward: 1,
    output: "hello from the tests\n",
    error: undefined,
  });
  const request = model.calls[1]?.messages ?? [];
  expect(request.find(({ type }) => type === "human")?.text).toContain(
    "/workspace/data/numbers.txt to /workspace/sum.txt",
  );
  expect(request.at(-1)?.text).toMatch(/1\n2\n/);
  expect(request.at(-1)?.text).not.toContain(".harbor");
});

test("work that is wrong, a reward that the agent wrote itself, and a model that fails are not rewarded", async () => {
  const cheat = "mkdir -p .harbor/logs/verifier; echo 1 > .harbor/logs/verifier/reward.txt; echo 4 > sum.txt";
  expect(await run([shell(cheat), say("Done.")])).toMatchObject({ reward: 0 });
  const link = "mkdir -p .harbor/tests; echo 4 > sum.txt; ln -s ../../sum.txt .harbor/tests/expected.txt";
  expect(await run([shell(link), say("Done.")])).toMatchObject({ reward: 0 });
  expect(await run([new Error("no such model")])).toMatchObject({
    reward: 0,
    error: expect.stringContaining("no such model"),
  });
});

test("a folder of tasks is a suite: trials have a trace, limits count, and a provider's failure is no failed task", async () => {
  const folder = dirname(taskDirectory());
  const [done, wrong] = [basename(taskDirectory()), basename(taskDirectory())];
  const suites = await Promise.all(
    [done, wrong].map((name) => loadSuites(join(folder, name), importNothing)),
  );
  const cases = suites.flat().flatMap((suite) => suite.cases);
  const play = async (script: Script, change: Partial<EvalCase> = {}) => {
    const { records } = await runEvals({
      suites: [{ category: "harbor", cases: cases.map((each) => ({ ...each, ...change })) }],
      harnesses: [deepwrightHarness()],
      models: [liveSource("scripted-live", scriptedModel(script))],
    });
    return records;
  };
  const records = await play([
    shell("echo 3 > sum.txt"),
    say("Done."),
    shell("echo 4 > sum.txt"),
    say("Done."),
  ]);
  expect(records.map(({ status }) => status)).toEqual(["passed", "failed"]);
  expect(records[0]?.trace.map(({ kind }) => kind)).toEqual(["user", "reply", "result", "reply"]);
  expect(records[0]?.usage.modelCalls).toBe(2);
  expect(records[1]?.reason).toMatch(/reward 1: not so.*hello from the tests/);
  const many = { limits: { modelCalls: 1 } };
  const [limited] = await play(() => shell("echo 3 > sum.txt"), many);
  expect(limited).toMatchObject({ status: "failed", reason: expect.stringContaining("1 model call") });
  const [broken] = await play(() => fault.status(401));
  expect(broken).toMatchObject({ status: "infrastructure" });
});

test("a task that names an image runs in a container of it", async () => {
  const engine = await fetch(`${process.env.TEST_BROKER}/engine`);
  const { socketPath, bashImage } = (await engine.json()) as { socketPath: string; bashImage: string };
  const task = await readHarborTask(
    taskDirectory({
      "task.toml": `[environment]\ndocker_image = "${bashImage}"`,
      "environment/Dockerfile": "FROM busybox\nRUN make\nENV GREETING=hello\nWORKDIR /workspace\n",
      "instruction.md": "Write 3 to /workspace/sum.txt.",
      "tests/test.sh": `echo "$GREETING"; [ "$(cat /workspace/sum.txt)" = "$(cat /tests/expected.txt)" ]`,
    }),
  );
  const sandbox = dockerSandbox({ image: task.image ?? "", socketPath, pull: false, engineTimeout: 600 });
  const model = scriptedModel([shell("echo 3 > sum.txt; hostname"), say("Done.")]);
  const { reward, output, error } = await runHarborTask(task, { sandbox, model });
  expect({ reward, output, error }).toEqual({ reward: 1, output: "hello\n", error: undefined });
  expect(model.calls[1]?.messages.at(-1)?.text).not.toContain(hostname());
});

const importNothing = () => Promise.reject(new Error("There is no module."));

test.each<[string, Record<string, string | undefined>, RegExp]>([
  ["no tests", { "tests/test.sh": undefined }, /no tests\/test\.sh/],
  ["no instruction", { "instruction.md": undefined }, /instruction\.md cannot be read/],
  ["a manifest that is not TOML", { "task.toml": "[task" }, /task\.toml is not TOML/],
  ["a manifest of another version", { "task.toml": 'schema_version = "2.0"' }, /schema version 2\.0/],
  ["a limit that is none", { "task.toml": "[agent]\ntimeout_sec = -1" }, /agent\.timeout_sec/],
  ["several steps", { "task.toml": '[[steps]]\nname = "a"' }, /several steps/],
  ["another system", { "task.toml": '[environment]\nos = "windows"' }, /needs windows/],
  [
    "a build",
    { "environment/Dockerfile": "FROM debian\nRUN apt-get update" },
    /RUN needs a container build.*docker_image/,
  ],
  ["a copy of nothing", { "environment/Dockerfile": "COPY none /app/" }, /'none', which is not there/],
  ["several containers", { "environment/docker-compose.yaml": "" }, /several containers/],
])("a task with %s is refused before anything is spent", async (_, changes, words) => {
  await expect(readHarborTask(taskDirectory(changes))).rejects.toThrow(words);
});

test("links in a task are refused, because they may lead anywhere", async () => {
  const directory = taskDirectory();
  symlinkSync("/etc/passwd", join(directory, "environment", "link"));
  await expect(readHarborTask(directory)).rejects.toThrow("link is neither a file nor a directory");
  const words = taskDirectory({ "instruction.md": undefined });
  symlinkSync("/etc/passwd", join(words, "instruction.md"));
  await expect(readHarborTask(words)).rejects.toThrow("instruction.md is no file");
});

test("an environment with an image is not built: what its Dockerfile runs is in the image", async () => {
  const task = await readHarborTask(
    taskDirectory({
      "task.toml": '[environment]\ndocker_image = "example/sum:1"',
      "environment/Dockerfile": "FROM debian\nRUN make\nWORKDIR /srv/app\n",
    }),
  );
  expect(task).toMatchObject({ image: "example/sum:1", workingDirectory: "/srv/app", files: {} });
});
