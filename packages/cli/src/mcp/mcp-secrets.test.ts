/** A server that repeats its secret in errors: neither the terminal, nor the database, nor the model gets it. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type Answer, providerServer } from "../test-support/provider-server.ts";
import { directoryWith, homeOf, runBinary } from "../test-support/run-binary.ts";

const HEADER = "mcp-header-4711";
const VARIABLE = "mcp-variable-4711";
const require = createRequire(import.meta.url);
const sdk = (path: string): string =>
  JSON.stringify(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${path}`)).href);

/** A tool that fails with the variable it was given. */
const FAILING = `
import mcp from ${sdk("server/mcp.js")};
import stdio from ${sdk("server/stdio.js")};
const server = new mcp.McpServer({ name: "failing", version: "1.0.0" });
server.registerTool("look", { description: "Looks.", annotations: { readOnlyHint: true } }, () => {
  throw new Error("no access with " + process.env.SERVICE_TOKEN);
});
await server.connect(new stdio.StdioServerTransport());
`;
/** A program that ends at once, with the variable in its complaint. */
const ENDING = 'process.stderr.write("bad token " + process.env.SERVICE_TOKEN); process.exit(1);';

/** Refuses everyone, by the header they sent. */
async function refusing(): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(403).end(`go away, ${request.headers.authorization}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

test("an MCP server over HTTP, one that ends and a tool that throws", async () => {
  const cwd = await directoryWith({ "failing.mjs": FAILING, "ending.mjs": ENDING });
  const home = homeOf(cwd);
  await mkdir(home);
  const env = { SERVICE_TOKEN: VARIABLE };
  const mcpServers = {
    web: { url: await refusing(), headers: { Authorization: `Bearer ${HEADER}` }, allowPrivate: true },
    ending: { command: "node", args: ["ending.mjs"], cwd, env },
    failing: { command: "node", args: ["failing.mjs"], cwd, env },
  };
  await writeFile(join(home, "mcp.json"), JSON.stringify({ mcpServers }));

  const listed = await runBinary(["mcp", "list", "--tools"], { cwd });
  expect(listed.stdout).toContain("go away, [Authorization]");
  expect(listed.stdout).toContain("bad token [SERVICE_TOKEN]");
  expect(listed.all).not.toContain("4711");

  const answers: Answer[] = [{ call: { name: "mcp__failing__look", args: {} } }, { text: ["Done."] }];
  const provider = await providerServer(answers);
  onTestFinished(() => provider.close());
  const model = { ANTHROPIC_API_KEY: "key-key-key", ANTHROPIC_BASE_URL: provider.url };
  const run = await runBinary(["run", "go", "--verbose"], { cwd, env: { ...model, NODE_NO_WARNINGS: "1" } });
  expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining("go away, [Authorization]") });
  expect(run.stderr).toContain("no access with [");
  const asked = JSON.stringify(provider.asked().map(({ body }) => body));
  expect(asked).toContain("no access with [SERVICE_TOKEN]");
  const files = (await readdir(home)).filter((name) => name.startsWith("state.db"));
  const bytes = await Promise.all(files.map((name) => readFile(join(home, name), "latin1")));
  expect(bytes.join("")).toContain("SQLite format");
  expect([run.all, asked, ...bytes].join("")).not.toContain("4711");
});
