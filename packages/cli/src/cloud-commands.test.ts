import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../../../scripts/test-time.ts";
import {
  AGENTCORE_CREDENTIALS,
  AgentCoreServer,
} from "../../sandboxes/src/agentcore/agentcore-server-for-tests.ts";
import { DAYTONA_KEY, startDaytonaServer } from "../../sandboxes/src/daytona/daytona-server-for-tests.ts";
import { E2bServer } from "../../sandboxes/src/e2b/server-for-tests.ts";
import { LANGSMITH_KEY, LangSmithServer } from "../../sandboxes/src/langsmith/langsmith-server-for-tests.ts";
import { ModalServer } from "../../sandboxes/src/modal/server-for-tests.ts";
import { RUNLOOP_KEY, startRunloopServer } from "../../sandboxes/src/runloop/runloop-server-for-tests.ts";
import { DONE, desk, runs } from "./test-support/desk.ts";

/** A vendor on the loopback: what its package finds it by, and the sandboxes that are alive. */
interface Cloud {
  readonly env: Record<string, string>;
  running(): number;
  close(): Promise<void>;
}

const CLOUDS: Readonly<Record<string, () => Promise<Cloud>>> = {
  modal: async () => {
    const server = await ModalServer.start();
    const env = {
      MODAL_SERVER_URL: server.url,
      MODAL_TOKEN_ID: server.tokenId,
      MODAL_TOKEN_SECRET: server.tokenSecret,
    };
    return { env, running: () => server.running().length, close: () => server.close() };
  },
  runloop: async () => {
    const { baseUrl, devboxes, close } = await startRunloopServer();
    const env = { RUNLOOP_API_KEY: RUNLOOP_KEY, RUNLOOP_BASE_URL: baseUrl };
    const running = () => [...devboxes.values()].filter(({ status }) => status !== "shutdown").length;
    return { env, running, close };
  },
  daytona: async () => {
    const { apiUrl, sandboxes, close } = await startDaytonaServer();
    const env = { DAYTONA_API_KEY: DAYTONA_KEY, DAYTONA_API_URL: apiUrl, DAYTONA_TARGET: "us" };
    return { env, running: () => sandboxes.size, close };
  },
  langsmith: async () => {
    const server = await LangSmithServer.start();
    const env = { LANGSMITH_API_KEY: LANGSMITH_KEY, LANGSMITH_ENDPOINT: server.loopback.url };
    return { env, running: () => server.sandboxes.size, close: () => server.close() };
  },
  agentcore: async () => {
    const server = await AgentCoreServer.start();
    const { accessKeyId, secretAccessKey } = AGENTCORE_CREDENTIALS;
    const env = {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_REGION: "us-east-1",
      AWS_ENDPOINT_URL: server.endpoint,
    };
    const running = () => [...server.sessions.values()].filter(({ status }) => status === "READY").length;
    return { env, running, close: () => server.close() };
  },
  e2b: async () => {
    const server = await E2bServer.start();
    const env = { E2B_API_KEY: server.apiKey, E2B_API_URL: server.url, E2B_SANDBOX_URL: server.url };
    return { env, running: () => server.running().length, close: () => server.close() };
  },
};

/** The output of a command that wrote and read a file, as the model reads it. */
const MADE = "Linux made\\n";

async function opened(name: string): Promise<Cloud> {
  const cloud = await (CLOUDS[name] as () => Promise<Cloud>)();
  onTestFinished(() => cloud.close());
  return cloud;
}

it("a sandbox in a cloud has the files too, stays for its thread, and ends with a run that keeps nothing", async () => {
  const { env, running } = await opened("e2b");
  const { headless, server, files, told } = await desk(
    [runs("cat notes.txt; echo two >> notes.txt"), DONE, runs("cat notes.txt"), DONE, runs("cat notes.txt")],
    { "notes.txt": "of the directory", "AGENTS.md": "of the directory" },
  );
  const args = ["Work", "--sandbox", "e2b", "--yes"];
  const first = await headless(args, env);
  expect([first.code, running()]).toEqual([0, 1]);
  expect(first.stderr).toContain("in a sandbox of e2b; this directory is not copied there");
  expect(first.stderr).toContain("Workspace: in a sandbox of e2b, with files of its own\n");
  expect(first.stderr).not.toContain("Memory:");
  const [, thread = ""] = first.stderr.match(/thread: (\S+)/) ?? [];
  expect((await headless([...args, "--thread", thread], env)).code).toBe(0);
  expect([told().includes("two"), told().includes("of the directory"), running()]).toEqual([true, false, 1]);
  await headless([...args, "--ephemeral"], env);
  expect([server.asked().length, running(), await files()]).toEqual([6, 1, ["AGENTS.md", "notes.txt"]]);
});

it("what was approved there does not run on this machine", async () => {
  const { env, running } = await opened("e2b");
  const { headless, files, told } = await desk(
    [runs("rm -rf ./*; uname > made.txt; echo `cat made.txt` made")],
    {
      "precious.txt": "of the directory",
    },
  );
  const waiting = await headless(["Work", "--sandbox", "e2b", "--wait"], env);
  const [, id = ""] = waiting.stderr.match(/thread: (\S+)/) ?? [];
  expect(waiting.stderr).toContain(`Decide with: deepwright run --thread ${id}, or with --approve`);
  const elsewhere = await headless(["--thread", id, "--approve", "--sandbox", "os"], env);
  expect([elsewhere.code, elsewhere.stderr]).toEqual([
    2,
    expect.stringContaining("This thread works with --sandbox e2b, and its open calls do not run"),
  ]);
  expect((await headless(["--thread", id, "--approve"], env)).code).toBe(0);
  expect([told(), await files(), running()]).toEqual([expect.stringContaining(MADE), ["precious.txt"], 1]);
});

it("without its key or its package it is not begun, and the reason is said", async () => {
  const { headless, server } = await desk([]);
  const result = await headless(["Work", "--sandbox", "e2b"]);
  expect([result.code, server.asked().length]).toEqual([1, 0]);
  expect(result.stderr).toMatch(/The sandbox cannot be opened: .*E2B_API_KEY/);
});

it("each cloud runs commands, with its key from the environment, and is left behind by nothing", async () => {
  const names = Object.keys(CLOUDS).filter((name) => name !== "e2b");
  const outcomes = names.map(async (name) => {
    const { env, running } = await opened(name);
    const { headless, told, files } = await desk([runs("uname > made.txt; echo `cat made.txt` made")]);
    const { code, stderr } = await headless(["Work", "--sandbox", name, "--yes", "--ephemeral"], env);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`files: in a sandbox of ${name};`)]);
    expect([name, told().includes(MADE), await files()]).toEqual([name, true, []]);
    // Some are still ending when they say that they do.
    await eventually(() => expect([name, running()]).toEqual([name, 0]));
  });
  for (const outcome of await Promise.allSettled(outcomes))
    if (outcome.status === "rejected") throw outcome.reason;
});

it("the offline model writes there too, and a dry run, which shows the directory, is refused", async () => {
  const { env, running } = await opened("e2b");
  const { headless, files } = await desk([], { "notes.md": "# Of the directory" });
  const offline = ["Summarise this in report.md", "--sandbox", "e2b", "--model", "offline", "--ephemeral"];
  const result = await headless(offline, env);
  expect([result.code, await files(), running()]).toEqual([0, ["notes.md"], 0]);
  const dry = await headless(["Work", "--sandbox", "e2b", "--dry-run"], env);
  expect([dry.code, dry.stderr]).toEqual([2, expect.stringContaining("the files are in the cloud")]);
});
