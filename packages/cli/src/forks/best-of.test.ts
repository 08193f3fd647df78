import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { DONE, runs } from "../test-support/desk.ts";
import { type Answer, providerServer } from "../test-support/provider-server.ts";
import {
  directoryWith,
  homeOf,
  type RunningBinary,
  runBinary,
  startBinary,
} from "../test-support/run-binary.ts";
import { threadsIn } from "../test-support/threads-in.ts";
import { bestOfOptions } from "./best-of-options.ts";

function childrenOf(pid: number | undefined): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
}

/** The first two requests, of two attempts, get different answers: the first waits for the second. */
async function serverFor(first: Answer, second: Answer) {
  let begun = (): void => {};
  const hold = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const server = await providerServer([{ ...first, hold }, { ...second, hold }, DONE]);
  onTestFinished(() => server.close());
  void until(() => server.asked().length > 1).then(begun);
  return { ANTHROPIC_API_KEY: "key-key-key", ANTHROPIC_BASE_URL: server.url };
}

it("two attempts run on copies; the one that passes the check is adopted, and its adoption undone", async () => {
  const cwd = await directoryWith({ "a.txt": "start\n", "AGENTS.md": "Say hello.\n" });
  const env = await serverFor(runs("echo good > a.txt"), runs("echo bad > a.txt; touch bad.txt"));
  const home = homeOf(cwd);
  await mkdir(join(home, "copies", "deepwright-copy-old"), { recursive: true });
  await writeFile(join(home, "copies", "deepwright-copy-old", "owner"), "host:1:1:x:y");
  const task = ["run", "--best-of", "2", "--yes", "Do it", "--check"];
  const { stdout, stderr, code } = await runBinary([...task, "touch checked; grep good a.txt"], { cwd, env });
  expect(stderr).toContain("│ check passes: touch checked; grep good a.txt\n");
  expect(stderr).toContain("│ check fails with 1: ");
  expect(code).toBe(0);
  const rows = stdout.trimEnd().split("\n");
  expect(rows[0]).toMatch(/^THREAD +MODEL +END +CHECK +FILES +LINES +TOKENS +COST +TIME +ANSWER$/);
  expect(
    rows.filter((row) => /done +passes +1 +\+1 -1 +\d+ +\$0\.\d+ +[\d.]+ s +Done\.$/.test(row)),
  ).toHaveLength(1);
  expect(rows.filter((row) => /done +fails \(1\) +2 /.test(row))).toHaveLength(1);
  expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("start\n");
  expect((await readdir(cwd)).sort()).toEqual(["AGENTS.md", "a.txt"]);
  expect(await readdir(join(home, "copies"))).toEqual(["deepwright-copy-old"]);

  const id = /deepwright threads adopt (\S+)/.exec(stderr)?.[1] ?? "";
  const threads = (...args: string[]) => threadsIn(home, [...args, "--in", cwd]);
  const listed = await threadsIn(home, ["list", "--cwd", cwd]);
  expect(listed.stdout.trimEnd().split("\n")).toHaveLength(3);
  expect((await threads("compare", id, "--diff")).stdout).toContain("-start\n+good\n");
  expect((await threads("adopt", id, "--dry-run")).stdout).toContain("+good\n");
  expect(await threads("adopt", id)).toMatchObject({ code: 2 });
  const adopted = await threads("adopt", id, "--yes");
  expect(adopted.stdout).toMatch(/^Adopted:\n {2}~ \/a\.txt .*\nUndo: deepwright threads restore /);
  expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("good\n");
  const call = /--call (\S+)/.exec(adopted.stdout)?.[1] ?? "";
  await threads("restore", id, "--call", call, "--yes");
  expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("start\n");

  const again = ["run", "--best-of", "1", "Again", "--check", "false", "--adopt", "--thread", id];
  const failed = await runBinary(again, { cwd, env });
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain("No attempt passes the check: false\n");
});

it("Ctrl-C ends the attempt and removes its copy; what a killed process leaves goes at the next start", async () => {
  const cwd = await directoryWith({ "a.txt": "start\n" });
  const server = await providerServer([runs("sleep 600")]);
  onTestFinished(() => server.close());
  const env = { ANTHROPIC_API_KEY: "key-key-key", ANTHROPIC_BASE_URL: server.url };
  const copies = join(homeOf(cwd), "copies");
  const started = async (): Promise<RunningBinary> => {
    const asked = server.asked().length;
    const running = startBinary(["run", "--best-of", "1", "--yes", "Do it"], { cwd, env });
    await until(() => server.asked().length > asked);
    return running;
  };
  const stopped = await started();
  stopped.child.kill("SIGINT");
  expect((await stopped.result).code).toBe(130);
  expect(await readdir(copies)).toEqual([]);
  const killed = await started();
  const [child = 0] = childrenOf(killed.child.pid);
  killed.child.kill("SIGKILL");
  await killed.result;
  await until(() => !existsSync(`/proc/${child}`));
  expect(await readdir(copies)).toHaveLength(1);
  await threadsIn(homeOf(cwd), ["list"]);
  expect(await readdir(copies)).toEqual([]);
});

it.each([
  [{ bestOf: "9" }, "--best-of must be a whole number from 1 to 8"],
  [{ bestOf: "2", adopt: true }, "--adopt needs --check"],
  [{ bestOf: "2", dryRun: true }, "--best-of and --dry-run exclude each other"],
  [{ bestOf: "2", sandbox: "e2b" }, "give --sandbox os, docker, none or off, not e2b"],
  [{ bestOf: "2", at: "3" }, "--at needs --thread"],
])("%j is wrong usage", (raw, complaint) => {
  expect(() => bestOfOptions(raw)).toThrow(complaint);
});

it("attempts share the limits of money and tokens", () => {
  const { words } = bestOfOptions({ bestOf: "3", maxCost: "3", maxTokens: "1000", yes: true });
  expect(words).toEqual(["--json", "--no-mcp", "--yes", "--max-cost", "1", "--max-tokens", "334"]);
});
