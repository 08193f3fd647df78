import { sandboxSuite } from "deepwright/testing";
import { afterAll, describe, test } from "vitest";
import { agentcoreSandbox } from "../agentcore.ts";
import { leaseSuite } from "../testing.ts";
import { AGENTCORE_CREDENTIALS, AgentCoreServer } from "./agentcore-server-for-tests.ts";

const server = await AgentCoreServer.start();
afterAll(() => server.close());

const provider = () =>
  agentcoreSandbox({ region: "us-east-1", credentials: AGENTCORE_CREDENTIALS, endpoint: server.endpoint });
const opened = await provider().open({ key: "suite", env: {} });
let count = 0;

async function open() {
  const root = `/tmp/case-${++count}`;
  const { machine } = server.sessions.get(opened.id)!;
  await machine.makeDirectory(root);
  return { backend: opened.sandbox, root, close: () => machine.remove(root) };
}

sandboxSuite({ describe, test: test.concurrent }, { name: "a session of AgentCore", open });
leaseSuite({ describe, test }, { name: "leases of AgentCore", provider });
