import { sandboxSuite } from "deepwright/testing";
import { afterAll, describe, test } from "vitest";
import { runloopSandbox } from "../runloop.ts";
import { leaseSuite } from "../testing.ts";
import { RUNLOOP_HOME, RUNLOOP_KEY, startRunloopServer } from "./runloop-server-for-tests.ts";

const server = await startRunloopServer();
const provider = () => runloopSandbox({ apiKey: RUNLOOP_KEY, baseUrl: server.baseUrl });
const shared = await provider().open({ key: "suite", env: {} });
afterAll(async () => {
  await shared.destroy();
  await server.close();
});

// Cases wait more than they work, and each has a directory of its own.
const runner = { describe, test: test.concurrent };
const slackSeconds = 10;

let count = 0;
sandboxSuite(runner, {
  name: "a devbox at Runloop",
  slackSeconds,
  open: async () => {
    count += 1;
    const root = `${RUNLOOP_HOME}/case-${count}`;
    await server.devboxes.get(shared.id)?.machine.makeDirectory(root);
    return { backend: shared.sandbox, root };
  },
});

leaseSuite(runner, { name: "leases of devboxes at Runloop", slackSeconds, provider });
