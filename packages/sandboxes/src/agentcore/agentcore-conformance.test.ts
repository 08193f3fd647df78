import {
  BedrockAgentCoreClient,
  StartCodeInterpreterSessionCommand,
} from "@aws-sdk/client-bedrock-agentcore";
import { sandboxSuite } from "deepwright/testing";
import { afterAll, describe, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { agentcoreSandbox } from "../agentcore.ts";
import { NEEDS } from "../lease/lease-suite-case.ts";
import { BORROWED, expectLeftOut, OWN } from "../lease/left-out-for-tests.ts";
import { leaseSuite } from "../testing.ts";
import { AGENTCORE_CREDENTIALS, AgentCoreServer } from "./agentcore-server-for-tests.ts";

const server = await AgentCoreServer.start();
afterAll(() => server.close());

const provider = () =>
  agentcoreSandbox({ region: "us-east-1", credentials: AGENTCORE_CREDENTIALS, endpoint: server.endpoint });
const opened = await provider().open({ key: "suite", env: {} });
const timeoutMs = 600_000;
let count = 0;

async function open() {
  const root = `/tmp/case-${++count}`;
  const { machine } = server.sessions.get(opened.id)!;
  await machine.makeDirectory(root);
  return { backend: opened.sandbox, root, close: () => machine.remove(root) };
}

sandboxSuite(
  { describe, test: test.concurrent },
  { name: "a session of AgentCore", open, timeoutMs, size: sized("small", "full") },
);
const own = leaseSuite({ describe, test }, { name: "leases of AgentCore", provider, timeoutMs });
expectLeftOut(own, [...OWN, NEEDS.ttl]);

const client = new BedrockAgentCoreClient({
  region: "us-east-1",
  credentials: AGENTCORE_CREDENTIALS,
  endpoint: server.endpoint,
});
afterAll(() => client.destroy());
const { sessionId = "" } = await client.send(
  new StartCodeInterpreterSessionCommand({
    codeInterpreterIdentifier: "aws.codeinterpreter.v1",
    name: "mine",
  }),
);

const borrowed = leaseSuite(
  { describe, test },
  {
    name: "leases of a session of the user's at AgentCore",
    provider: () => agentcoreSandbox({ sandbox: { client, sessionId } }),
    sharesFiles: true,
    timeoutMs,
  },
);
expectLeftOut(borrowed, BORROWED);
