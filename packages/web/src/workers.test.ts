/** The page on Postgres with two workers: one is killed in the middle, and no tab shows a gap or anything twice. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testProgram } from "../../../scripts/test-program.mjs";
import { until } from "../../../scripts/test-time.ts";
import { type TestDatabase, testDatabase } from "../../checkpoint/src/test-support/postgres.ts";
import { countingAgent, STEPS } from "./counting-agent-for-tests.ts";
import { openPage, type TestPage, TOKEN, tell } from "./page-for-tests.ts";

let database: TestDatabase;
let directory: string;
let site: TestPage;
let program: string;
const workers: ChildProcess[] = [];

beforeAll(async () => {
  program = await testProgram(new URL("./worker-program-for-tests.ts", import.meta.url));
  directory = await mkdtemp(join(tmpdir(), "page-workers-"));
  database = await testDatabase();
  site = await openPage({ agents: { agent: countingAgent(directory) }, database: database.url, role: "api" });
});
afterAll(async () => {
  for (const worker of workers) worker.kill("SIGKILL");
  await site?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

async function startWorker(): Promise<void> {
  const worker = spawn(process.execPath, [program, database.url, directory, TOKEN], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  workers.push(worker);
  await once(worker.stdout, "data");
}

/** Processes and the steps that they began. */
function begun(): readonly (readonly [process: number, step: number])[] {
  const file = join(directory, "steps.log");
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return lines.map((line) => line.split(" ").map(Number) as [number, number]);
}

const answers = (on: Page) => on.getByRole("article", { name: "Agent" });

/** All that the tab says of the agent: texts, and calls with their state. */
const shown = (on: Page) => answers(on).locator(".markdown, .call-head").allTextContents();

const EXPECTED = [
  ...Array.from({ length: STEPS }, (_, index) => [
    `This is step ${index + 1} of ${STEPS}.`,
    `count{"step":${index + 1}}done`,
  ]).flat(),
  "write_file/count.mddone",
  "All is counted.",
];

test("a worker is killed in the middle: another goes on, and every tab shows each step once", async () => {
  const { page } = site;
  await Promise.all([startWorker(), startWorker()]);
  await page.getByRole("heading", { name: "What should be done?" }).waitFor();
  await tell(page, "count");
  await until(() => begun().some(([, step]) => step === 5));
  const second = await site.newTab();
  await second.goto(page.url());
  await answers(second).getByText("This is step 5").waitFor();
  const victim = workers.find(({ pid }) => pid === begun().at(-1)?.[0]);
  victim?.kill("SIGKILL");
  const refreshed = await site.newTab();
  await refreshed.goto(page.url());
  await answers(refreshed).getByText("This is step 5").waitFor();
  await refreshed.reload();
  writeFileSync(join(directory, "gate"), "");
  await refreshed.getByRole("button", { name: "Approve", exact: true }).click();
  for (const tab of [page, second, refreshed]) {
    await answers(tab).getByText("All is counted.").waitFor();
    await expect.poll(() => shown(tab)).toEqual(EXPECTED);
  }
  expect(new Set(begun().map(([process]) => process)).size).toBe(2);
  const fresh = await site.newTab();
  await fresh.goto(page.url());
  await expect.poll(() => shown(fresh)).toEqual(EXPECTED);
  expect(site.failures).toEqual([]);
});
