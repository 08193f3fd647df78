/**
 * The sandbox is a tool of the agent, and the agent runs outside of it: a tool of the host holds the key of a service,
 * the model gets what the service answers, and commands work on that without the key and without a network.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/host-side-tool.ts
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createSandbox } from "@deepwright/sandboxes";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { callTool } from "deepwright/testing";
import { z } from "zod";
import { modelOrScript } from "./support/model.ts";

const ORDERS = [12, 30, 58];
process.env.ORDERS_KEY = "key-of-the-shop-4711";

/** The service: it answers those who know the key. */
const server = createServer(({ headers }, response) => {
  const isKnown = headers.authorization === `Bearer ${process.env.ORDERS_KEY}`;
  response.writeHead(isKnown ? 200 : 401).end(isKnown ? JSON.stringify(ORDERS) : "Who are you?");
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`;

/** Runs here, where the key is. */
const fetchOrders = tool(
  async () => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${process.env.ORDERS_KEY}` } });
    return response.text();
  },
  { name: "fetch_orders", description: "The amounts of all orders, as JSON.", schema: z.object({}) },
);

await using sandbox = createSandbox({ provider: "os" });
const agent = createDeepAgent({
  model: modelOrScript([
    callTool("fetch_orders", {}),
    callTool("write_file", { file_path: "/workspace/orders.json", content: JSON.stringify(ORDERS) }),
    callTool("execute", {
      command: "tr -cs 0-9 '\\n' < orders.json | awk '{ sum += $1 } END { print sum }'",
    }),
    callTool("execute", { command: "env; cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/*/cmdline" }),
    callTool("execute", { command: `curl -sS -m 5 ${url} || wget -q -T 5 -O - ${url}` }),
    "The orders make 100.",
  ]),
  tools: [fetchOrders],
  backend: sandbox,
});

const order = `Fetch the orders, store them in /workspace/orders.json and sum them up with a command. Then look for a key among variables and processes, and try to reach ${url} from a command.`;
const { messages } = await agent.invoke(
  { messages: [{ role: "user", content: order }] },
  { configurable: { thread_id: "orders-1" } },
);
const results = messages.filter(({ type }) => type === "tool");
console.log(`from the host: ${results[0]?.text}`);
console.log(`from the sandbox: ${results[2]?.text.split("\n")[0]}`);
const commands = results.filter(({ name }) => name === "execute").map(({ text }) => text);
console.log(`the key is in the sandbox: ${commands.some((text) => text.includes("4711"))}`);
console.log(
  `the service can be reached from the sandbox: ${/Who are you|12,30,58/.test(commands.at(-1) ?? "")}`,
);
console.log(messages.at(-1)?.text);
await sandbox.close({ keep: false });
server.close();
