import { Daytona } from "@daytonaio/sdk";
import { sandboxSuite } from "deepwright/testing";
import { afterAll, describe, test } from "vitest";
import { daytonaSandbox } from "../daytona.ts";
import { NEEDS } from "../lease/lease-suite-case.ts";
import { BORROWED, expectLeftOut, OWN } from "../lease/left-out-for-tests.ts";
import { leaseSuite } from "../testing.ts";
import { DAYTONA_HOME, DAYTONA_KEY, startDaytonaServer } from "./daytona-server-for-tests.ts";

const server = await startDaytonaServer();
const provider = () => daytonaSandbox({ apiKey: DAYTONA_KEY, apiUrl: server.apiUrl, target: "us" });
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
  name: "a sandbox at Daytona",
  timeoutMs,
  open: async () => {
    count += 1;
    const root = `${DAYTONA_HOME}/case-${count}`;
    await server.sandboxes.get(shared.id)?.machine.makeDirectory(root);
    return { backend: shared.sandbox, root };
  },
});

const own = leaseSuite(runner, { name: "leases of sandboxes at Daytona", timeoutMs, provider });
expectLeftOut(own, [...OWN, NEEDS.ttl]);

const client = new Daytona({
  apiKey: DAYTONA_KEY,
  apiUrl: server.apiUrl,
  target: "us",
  useDeprecatedPolling: true,
});
const mine = await client.create();

const borrowed = leaseSuite(runner, {
  name: "leases of a sandbox of the user's at Daytona",
  provider: () => daytonaSandbox({ sandbox: mine }),
  sharesFiles: true,
  timeoutMs,
});
expectLeftOut(borrowed, BORROWED);
