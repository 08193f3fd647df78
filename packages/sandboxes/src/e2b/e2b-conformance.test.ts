import { sandboxSuite } from "deepwright/testing";
import { Sandbox } from "e2b";
import { afterAll, describe, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { e2bSandbox } from "../e2b.ts";
import { BORROWED, expectLeftOut, OWN } from "../lease/left-out-for-tests.ts";
import { leaseSuite } from "../testing.ts";
import { E2bServer } from "./server-for-tests.ts";

const server = await E2bServer.start();
afterAll(() => server.close());

const provider = () => e2bSandbox({ apiKey: server.apiKey, apiUrl: server.url, sandboxUrl: server.url });
const opened = await provider().open({ key: "suite", env: {} });

// Cases wait more than they work, and each has a directory of its own.
const runner = { describe, test: test.concurrent };
const timeoutMs = 600_000;
let count = 0;

async function open() {
  const root = `/home/user/case-${++count}`;
  const { machine } = server.sandboxes.get(opened.id)!;
  await machine.makeDirectory(root);
  return { backend: opened.sandbox, root, close: () => machine.remove(root) };
}

sandboxSuite(runner, { timeoutMs, name: "a sandbox at E2B", open, size: sized("small", "full") });
const own = leaseSuite(runner, { timeoutMs, name: "leases at E2B", provider, endsByItself: 3 });
expectLeftOut(own, OWN);

const connection = { apiKey: server.apiKey, apiUrl: server.url, sandboxUrl: server.url };
const mine = await Sandbox.create({ ...connection, timeoutMs: 3_600_000 });

const borrowed = leaseSuite(runner, {
  name: "leases of a sandbox of the user's at E2B",
  provider: () => e2bSandbox({ sandbox: mine }),
  sharesFiles: true,
  timeoutMs,
});
expectLeftOut(borrowed, BORROWED);
