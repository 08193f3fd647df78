/** Our server with its page, and an agent that streams as much as it is told. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@deepwright/server";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { buildPage } from "../../scripts/build-web.mjs";
import { sayUrl } from "./say-url.mjs";

const PARAGRAPHS = [
  "## What changes\n\nThe basket keeps **prices in cents**, so that `sum` never rounds; see [the guide](https://example.com).\n\n",
  "- one item is a line\n- another is *longer* and goes on until it needs a second row of the page\n\n",
  "```ts\nexport function sum(items: readonly Item[]): number {\n  return items.reduce((all, { cents }) => all + cents, 0);\n}\n```\n\n",
  "| file | change |\n|---|---|\n| basket.ts | cents |\n| page.ts | shows 日本語 and 🎉 |\n\n",
].join("");

/** `stream 4000`: so many characters of Markdown. `team 16 4000`: so many subagents that stream as much each. */
function turnFor({ messages }) {
  const last = messages.at(-1);
  if (last.getType() === "tool") return say("Done.");
  const [word, ...numbers] = String(last.text).split(" ");
  const [first, second] = numbers.map(Number);
  if (word === "stream") return say(PARAGRAPHS.repeat(Math.ceil(first / PARAGRAPHS.length)).slice(0, first));
  const args = { description: `stream ${second}`, subagent_type: "general-purpose" };
  return { toolCalls: Array.from({ length: first }, () => callTool("task", args).toolCalls[0]) };
}

const directory = mkdtempSync(join(tmpdir(), "deepwright-page-"));
const unlimited = { burst: 1e9, perSecond: 1e9 };
const server = await serve({
  agents: { agent: createDeepAgent({ model: scriptedModel(turnFor, { record: false, chunkLatency: 20 }) }) },
  port: 0,
  database: join(directory, "server.db"),
  token: process.env.BENCH_TOKEN,
  page: await buildPage(),
  limits: { requests: unlimited, runs: unlimited },
});
sayUrl(server.url, async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});
