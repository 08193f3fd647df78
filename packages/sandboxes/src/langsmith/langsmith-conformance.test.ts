import { sandboxSuite } from "deepwright/testing";
import { afterAll, describe, test } from "vitest";
import { langsmithSandbox } from "../langsmith.ts";
import { leaseSuite } from "../testing.ts";
import { LANGSMITH_KEY, LangSmithServer } from "./langsmith-server-for-tests.ts";

const server = await LangSmithServer.start();
afterAll(() => server.close());

const provider = () => langsmithSandbox({ apiKey: LANGSMITH_KEY, apiUrl: server.apiUrl });
const opened = await provider().open({ key: "suite", env: {} });
let count = 0;

async function open() {
  const root = `/root/case-${++count}`;
  const { machine } = server.sandboxes.get(opened.id)!;
  await machine.makeDirectory(root);
  return { backend: opened.sandbox, root, close: () => machine.remove(root) };
}

sandboxSuite({ describe, test: test.concurrent }, { name: "a sandbox at LangSmith", open });
leaseSuite({ describe, test }, { name: "leases at LangSmith", provider });
