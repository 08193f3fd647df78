import { sandboxSuite } from "deepwright/testing";
import { SandboxClient } from "langsmith/sandbox";
import { afterAll, describe, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { langsmithSandbox } from "../langsmith.ts";
import { NEEDS } from "../lease/lease-suite-case.ts";
import { BORROWED, expectLeftOut, OWN } from "../lease/left-out-for-tests.ts";
import { leaseSuite } from "../testing.ts";
import { LANGSMITH_KEY, LangSmithServer } from "./langsmith-server-for-tests.ts";

const server = await LangSmithServer.start();
afterAll(() => server.close());

const provider = () => langsmithSandbox({ apiKey: LANGSMITH_KEY, apiUrl: server.apiUrl });
const opened = await provider().open({ key: "suite", env: {} });
const timeoutMs = 600_000;
let count = 0;

async function open() {
  const root = `/root/case-${++count}`;
  const { machine } = server.sandboxes.get(opened.id)!;
  await machine.makeDirectory(root);
  return { backend: opened.sandbox, root, close: () => machine.remove(root) };
}

sandboxSuite(
  { describe, test: test.concurrent },
  { name: "a sandbox at LangSmith", open, timeoutMs, size: sized("small", "full") },
);
const own = leaseSuite({ describe, test }, { name: "leases at LangSmith", provider, timeoutMs });
expectLeftOut(own, [...OWN, NEEDS.ttl]);

const client = new SandboxClient({ apiKey: LANGSMITH_KEY, apiEndpoint: server.apiUrl });
const mine = await client.createSandbox({ name: "mine" });

const borrowed = leaseSuite(
  { describe, test },
  {
    name: "leases of a sandbox of the user's at LangSmith",
    provider: () => langsmithSandbox({ sandbox: mine }),
    sharesFiles: true,
    timeoutMs,
  },
);
expectLeftOut(borrowed, BORROWED);
