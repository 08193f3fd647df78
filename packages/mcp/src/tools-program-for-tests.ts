/** An MCP server as a program, for tests: it does what its tools are named after. `node tools-program-for-tests.ts [file]`. */
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const [, , log = "/dev/null", many = "0"] = process.argv;
appendFileSync(log, `start ${process.pid}\n`);

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const VERBS = ["create", "list", "update", "delete", "export", "import", "search", "share", "lock", "count"];
const NOUNS = [
  "issue",
  "pull_request",
  "milestone",
  "invoice",
  "calendar",
  "contact",
  "deployment",
  "secret",
  "branch",
  "report",
];

const server = new McpServer({ name: "tools", version: "1.0.0" });
const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });
const readOnly = { annotations: { readOnlyHint: true } };

server.registerTool(
  "echo",
  { description: "Says it again.", inputSchema: { words: z.string() }, ...readOnly },
  ({ words }) => text(`echo: ${words}`),
);
server.registerTool("fail", { description: "Fails." }, () => ({ ...text("It went wrong."), isError: true }));
server.registerTool("env", { description: "Its variables.", ...readOnly }, () =>
  text(JSON.stringify(process.env)),
);
server.registerTool("die", { description: "Ends the program." }, () => process.exit(3));
server.registerTool("hang", { description: "Never answers." }, ({ signal }: { signal: AbortSignal }) => {
  signal.addEventListener("abort", () => appendFileSync(log, "cancelled\n"));
  appendFileSync(log, "called\n");
  return new Promise<never>(() => {});
});
server.registerTool("freeze", { description: "Stops the whole program." }, () => {
  for (;;) if (process.argv.length > 99) return text("");
});
server.registerTool("flood", { description: "Writes without end, and never a line." }, () => {
  const more = (): void => void process.stdout.write("x".repeat(1024 * 1024), () => setImmediate(more));
  more();
  return new Promise<never>(() => {});
});
server.registerTool("complain", { description: "Floods stderr." }, () => {
  for (let i = 0; i < 200; i += 1) process.stderr.write("e".repeat(10_000));
  return text("complained");
});
server.registerTool("child", { description: "Starts a program that stays." }, () => {
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  child.unref();
  return text(String(child.pid));
});
server.registerTool("picture", { description: "A picture, a resource and a link." }, () => ({
  content: [
    { type: "text", text: "Look:" },
    { type: "image", data: PIXEL, mimeType: "image/png" },
    { type: "resource", resource: { uri: "note://a", mimeType: "text/plain", text: "a note" } },
    { type: "resource", resource: { uri: "bin://b", mimeType: "application/zip", blob: "AAAA" } },
    { type: "resource_link", uri: "http://169.254.169.254/", name: "link" },
  ],
}));
server.registerTool(
  "facts",
  { description: "Data without words.", outputSchema: { answer: z.number() } },
  () => ({ content: [], structuredContent: { answer: 42 } }),
);
server.registerTool("long", { description: "A long text." }, () =>
  text("All work and no play. ".repeat(20_000)),
);
const later = server.registerTool("later", { description: "Comes later." }, () => text("later"));
later.disable();
server.registerTool("grow", { description: "Gives the server another tool, and echo other words." }, () => {
  later.enable();
  return text("grown");
});
for (let i = 0; i < Number(many); i += 1)
  server.registerTool(
    `${VERBS[i % VERBS.length]}_${NOUNS[Math.floor(i / VERBS.length) % NOUNS.length]}${i >= 100 ? "_archived" : ""}`,
    {
      description: `Takes the ${NOUNS[Math.floor(i / VERBS.length) % NOUNS.length]} of a project and does its work with it. Needs the id.`,
      inputSchema: {
        id: z.string().describe("Which one."),
        reason: z.string().optional().describe("Why it is done."),
      },
    },
    ({ id }) => text(`done ${id}`),
  );
await server.connect(new StdioServerTransport());
