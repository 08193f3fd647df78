import { RunloopSDK } from "@runloop/api-client";
import { sandboxSuite } from "deepwright/testing";
import { afterAll, describe, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { NEEDS } from "../lease/lease-suite-case.ts";
import { BORROWED, expectLeftOut, OWN } from "../lease/left-out-for-tests.ts";
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
const timeoutMs = 600_000;

let count = 0;
sandboxSuite(runner, {
  name: "a devbox at Runloop",
  size: sized("small", "full"),
  timeoutMs,
  open: async () => {
    count += 1;
    const root = `${RUNLOOP_HOME}/case-${count}`;
    await server.devboxes.get(shared.id)?.machine.makeDirectory(root);
    return { backend: shared.sandbox, root };
  },
});

const own = leaseSuite(runner, { name: "leases of devboxes at Runloop", timeoutMs, provider });
expectLeftOut(own, [...OWN, NEEDS.ttl]);

const client = new RunloopSDK({ bearerToken: RUNLOOP_KEY, baseURL: server.baseUrl, http2: false });
const mine = client.devbox.fromId((await client.api.devboxes.create({})).id);
await mine.awaitRunning();

const borrowed = leaseSuite(runner, {
  name: "leases of a devbox of the user's at Runloop",
  provider: () => runloopSandbox({ sandbox: mine }),
  sharesFiles: true,
  timeoutMs,
});
expectLeftOut(borrowed, BORROWED);
