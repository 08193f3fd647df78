import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Answer, type ProviderServer, providerServer } from "../test-support/provider-server.ts";
import { runBinary, startBinary } from "../test-support/run-binary.ts";

const CASE = "task: Say hello.\nlimits: { modelCalls: 3 }\nverify: [{ answerContains: hello }]\n";

/** A folder with a suite of so many cases. */
async function folderWith(cases: number, text = CASE): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "deepwright-eval-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (let index = 1; index <= cases; index += 1) {
    await mkdir(join(folder, "greetings", `case-${index}`), { recursive: true });
    await writeFile(join(folder, "greetings", `case-${index}`, "case.yaml"), text);
  }
  return folder;
}

async function serverWith(answers: readonly Answer[]): Promise<{ server: ProviderServer; live: string[] }> {
  const server = await providerServer(answers);
  onTestFinished(() => server.close());
  return { server, live: ["--model", "openai:gpt-5.4", "--base-url", `${server.url}/v1`] };
}

const report = async (folder: string, name = "a.json") =>
  JSON.parse(await readFile(join(folder, name), "utf8"));

test("a live model is tried several times, and reports and thresholds follow", async () => {
  const folder = await folderWith(2);
  const { live, server } = await serverWith([{ text: ["hello"] }, { text: ["bye"] }, { text: ["hello"] }]);
  const files = ["--json", "a.json", "--junit", "a.xml", "--html", "a.html"];
  const ran = await runBinary(
    ["eval", "greetings", ...live, "--trials", "2", "--parallel", "1", "--min", "0.9", ...files],
    { cwd: folder },
  );
  expect(ran.code, ran.all).toBe(1);
  expect(ran.stdout).toContain("75 % (20 %–97 %)");
  expect(ran.stdout).toMatch(/^ +openai:gpt-5\.4$/m);
  expect(ran.stderr).toContain("0.750 of the trials passed, less than 0.9.");
  expect(server.asked()).toHaveLength(4);
  expect((await report(folder)).records).toHaveLength(4);
  expect(await readFile(join(folder, "a.xml"), "utf8")).toContain(
    '<testsuite name="openai:gpt-5.4" tests="4" failures="1"',
  );
  const page = await readFile(join(folder, "a.html"), "utf8");
  expect(page).not.toMatch(/<script|https?:\/\//);
  const compared = await runBinary(["eval", "compare", "a.json", "a.json"], { cwd: folder });
  expect(compared.stdout).toContain("no difference shown");
  const again = await runBinary(["eval", "greetings", ...live, "--no-worse-than", "a.json"], { cwd: folder });
  expect(again.code).toBe(0);
});

test("Ctrl-C leaves a run that --resume finishes, without asking again for what is done", async () => {
  const folder = await folderWith(3);
  let release = () => {};
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { live, server } = await serverWith([
    { text: ["hello"] },
    { text: ["hello", "!"], hold },
    { text: ["hello"] },
  ]);
  const words = ["eval", "greetings", ...live, "--parallel", "1"];
  const running = startBinary(words, { cwd: folder });
  await expect.poll(() => server.asked().length).toBe(2);
  running.child.kill("SIGINT");
  const stopped = await running.result;
  release();
  expect(stopped.code).toBe(1);
  const [, journal = ""] = /--resume (\S+)/.exec(stopped.stderr) ?? [];
  const other = await runBinary([...words, "--trials", "2", "--resume", journal], { cwd: folder });
  expect(other.code).toBe(2);
  expect(other.stderr).toContain("belongs to other cases");
  const resumed = await runBinary([...words, "--resume", journal], { cwd: folder });
  expect(resumed.code).toBe(0);
  expect(resumed.stdout).toMatch(/greetings +3\/3/);
  expect(existsSync(journal), "nothing is left to continue").toBe(false);
  expect(server.asked()).toHaveLength(4);
});

test("a provider that refuses the key is an infrastructure failure, which stops a run that can be continued", async () => {
  const folder = await folderWith(1);
  const { live, server } = await serverWith([
    { status: 401, body: { error: { message: "Invalid API key" } } },
  ]);
  const words = ["eval", "greetings", ...live, "--trials", "12", "--parallel", "1", "--json", "out/a.json"];
  const ran = await runBinary(words, { cwd: folder });
  expect(ran.code, ran.all).toBe(1);
  expect(ran.stdout).toMatch(/infrastructure failures +10$/m);
  expect(ran.stderr).toContain("10 of 10 trials had infrastructure failures and do not count.");
  expect(ran.stderr.match(/refused the key/g), "alike failures are one line").toHaveLength(1);
  expect(ran.stderr).toContain("--resume ");
  expect(server.asked()).toHaveLength(10);
  expect((await report(folder, "out/a.json")).records[0].status).toBe("infrastructure");
});

test("bad cases are refused before the model is asked, each with its problems", async () => {
  const folder = await folderWith(3, "task: Hello.\nlimits: {}\ntools: [raed_file]\n");
  const put = (name: string, text: string) => writeFile(join(folder, "greetings", name, "case.yaml"), text);
  await put("case-2", "task: Hello.\nverfy: []\n");
  await put("case-3", "task: Hello.\nverify: [{ file: /a, contain: x }]\n");
  const { live, server } = await serverWith([{ text: ["hello"] }]);
  const ran = await runBinary(["eval", ".", ...live], { cwd: folder });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain("greetings/case-1: no budget: give limits: { modelCalls }");
  expect(ran.stderr).toContain("greetings/case-1: no verifier: give at least one in verify");
  expect(ran.stderr).toContain("unknown built-in tool 'raed_file'");
  expect(ran.stderr).toContain('case-2/case.yaml: the file: Unrecognized key: "verfy"');
  expect(ran.stderr).toContain('case-3/case.yaml: verify: no verifier is {"file":"/a","contain":"x"}.');
  expect(server.requests).toEqual([]);
});

test("a plan that cannot be kept is refused before the model is asked", async () => {
  const folder = await folderWith(1, `${CASE.replace("answerContains: hello", "judge: Is it polite?")}`);
  await writeFile(join(folder, "taken"), "");
  const { live, server } = await serverWith([{ text: ["hello"] }]);
  const refused = async (...words: string[]) => {
    const ran = await runBinary(["eval", "greetings", ...live, ...words], { cwd: folder });
    expect(ran.code, ran.all).not.toBe(0);
    return ran.stderr;
  };
  expect(await refused()).toContain("greetings/case-1 asks a judge model, and none is named.");
  const judge = ["--judge", "openai:gpt-5.4"];
  expect(await refused(...judge, "--max-cost", "2")).toContain("openai:gpt-5.4 has no known price");
  expect(await refused(...judge, "--min", "90")).toContain("--min is a share from 0 to 1, not 90.");
  expect(await refused(...judge, "--json", "taken/a.json")).toContain("taken/a.json cannot be written");
  expect(server.requests).toEqual([]);
});

test("one case, a folder of suites and lines of JSON can be run, and two models can be compared", async () => {
  const folder = await folderWith(2);
  await writeFile(
    join(folder, "capitals.jsonl"),
    '{"id":"finland","task":"Which is it?","expected":{"answer":"Helsinki"}}\n',
  );
  const { live } = await serverWith([{ text: ["hello"] }]);
  const at = { cwd: folder };
  const one = await runBinary(["eval", "greetings/case-2", ...live, "--json", "a.json"], at);
  expect(one.stdout, one.all).toMatch(/greetings +1\/1/);
  const words = ["eval", ".", "capitals.jsonl", "--model", "openai:gpt-5.2", ...live.slice(2)];
  const all = await runBinary([...words, "--json", "b.json"], at);
  expect(all.stdout, all.all).toMatch(/greetings +2\/2\n.*capitals +0\/1/);
  const compared = await runBinary(["eval", "compare", "a.json", "b.json"], at);
  expect(compared.stdout).toContain(
    "deepwright · openai:gpt-5.2 (B) compared with deepwright · openai:gpt-5.4 (A): no difference shown",
  );
  const builtIn = ["eval", "tool use/calls-tools-in-order"];
  expect((await runBinary(builtIn, at)).stdout).toMatch(/tool use +1\/1/);
  const published = (await runBinary([...builtIn, ...live], at)).stdout;
  expect(published).toMatch(/DeepAgents' own eval, on other cases: not comparable:\n.*\ntool use +18 %/);
});

test("record keeps a run as a cassette, and replay names the request that differs", async () => {
  const folder = await folderWith(1);
  const { live } = await serverWith([{ text: ["hello"] }]);
  const at = { cwd: folder };
  const words = ["eval", "record", "greetings", "case-1"];
  const recorded = await runBinary([...words, "kept/a.cassette.json", ...live], at);
  expect(recorded.code, recorded.all).toBe(0);
  expect(recorded.stdout).toContain("Recorded case-1 with 1 requests");
  const cassette = await readFile(join(folder, "kept", "a.cassette.json"), "utf8");
  expect(JSON.parse(cassette).segments).toMatchObject([
    { messages: ["Say hello."], replies: [{ text: "hello" }] },
  ]);
  await writeFile(join(folder, "b.cassette.json"), cassette.replace("Say hello.", "Say good day."));
  const replayed = await runBinary(["eval", "replay", "b.cassette.json", "kept/a.cassette.json"], at);
  expect(replayed.code, replayed.all).toBe(1);
  expect(replayed.stdout).toMatch(/different: b\.cassette\.json\n.*request 1 is not the recorded one/);
  expect(replayed.stdout).toMatch(/- .*Say hello.*\n.*\+ .*Say good day/);
  expect(replayed.stdout).toContain("same: kept/a.cassette.json (1 requests)");
});
