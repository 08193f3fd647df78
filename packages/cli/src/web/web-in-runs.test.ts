import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { providerServer } from "../test-support/provider-server.ts";
import { directoryWith, runBinary } from "../test-support/run-binary.ts";

it("a run fetches no private address, asks about hosts, and searches where there is a key", async () => {
  const fetching = (url: string) => ({ call: { name: "fetch_url", args: { url } } });
  const server = await providerServer(
    [
      fetching("http://127.0.0.1:1/secret"),
      { call: { name: "web_search", args: { query: "roses" } } },
      { text: ["one"] },
      fetching("https://page.test/"),
      { text: ["two"] },
    ],
    ["tiny"],
  );
  const search = createServer((_, response) => {
    const results = [{ title: "Roses", url: "https://r.test", content: "They are red." }];
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ results }));
  }).listen(0, "127.0.0.1");
  onTestFinished(async () => {
    search.close();
    await server.close();
  });
  await new Promise((done) => search.once("listening", done));
  const cwd = await directoryWith({});
  const env = {
    OPENAI_API_KEY: "sk-test-0000",
    OPENAI_BASE_URL: `${server.url}/v1`,
    TAVILY_API_KEY: "tvly-0000",
    TAVILY_BASE_URL: `http://127.0.0.1:${(search.address() as AddressInfo).port}`,
  };
  const told = () => JSON.stringify(server.asked().at(-1)?.body.messages);
  expect(await runBinary(["run", "go", "--yes"], { cwd, env })).toMatchObject({ code: 0 });
  expect(told()).toContain("must be an address of the public Internet");
  expect(told()).toContain("They are red.");
  expect(await runBinary(["run", "go"], { cwd, env })).toMatchObject({ code: 4 });
  expect(told()).toContain(
    "The call of fetch_url needs approval, no person could be asked, and it did not run",
  );
});
