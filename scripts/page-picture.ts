/** A picture of the page: a thread in which a change waits for approval, beside others. Started by page-picture.mjs. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApprovalModes } from "@deepwright/server";
import { createDeepAgent, LocalShellBackend } from "deepwright";
import { callTool, type ScriptedTurn, say, scriptedModel } from "deepwright/testing";
import { openPage, tell } from "../packages/web/src/page-for-tests.ts";

const TARGET = "docs/images/page.png";
const TASK = "The totals on invoices are one cent off. Find out why and fix it.";

const TOTALS = `export interface Line {
  readonly price: number;
  readonly count: number;
}

/** The sum of an invoice, with tax. */
export function total(lines: readonly Line[], tax: number): number {
  const sum = lines.reduce((all, { price, count }) => all + price * count, 0);
  return Math.round(sum * (1 + tax) * 100) / 100;
}
`;

const CHECK = `import { total } from "./totals.js";
const found = total([{ price: 1.005, count: 1 }], 0);
console.log(found === 1.01 ? "ok" : \`expected 1.01, found \${found}\`);
process.exit(found === 1.01 ? 0 : 1);
`;

const todos = (...states: readonly string[]) =>
  ["Reproduce the wrong total", "Find the cause", "Fix it, and run the check again"].map((content, at) => ({
    content,
    status: states[at] ?? "pending",
  }));

const BEFORE = "  return Math.round(sum * (1 + tax) * 100) / 100;\n";
const AFTER = `  const cents = sum * (1 + tax) * 100;
  return Math.round(cents + Number.EPSILON * cents) / 100;
`;

const TURNS: readonly ScriptedTurn[] = [
  callTool("write_todos", { todos: todos("in_progress") }),
  callTool("read_file", { file_path: "/totals.js" }),
  callTool("execute", { command: "node check.js" }),
  callTool("write_todos", { todos: todos("completed", "completed", "in_progress") }),
  {
    content: [
      {
        type: "text",
        text: "The check fails as you said: **1.00 instead of 1.01**. `1.005 * 100` is 100.49999999999999 in binary, so `Math.round` goes down. A correction of one epsilon keeps such halves.",
      },
    ],
    toolCalls: callTool("edit_file", { file_path: "/totals.js", old_string: BEFORE, new_string: AFTER })
      .toolCalls,
  } as ScriptedTurn,
];

const OTHERS = [
  "Compare three queues for the mail service",
  "Write the changelog of 2.4",
  "Why is the nightly import slow?",
  "Rename customer to account in the schema",
];

const directory = await mkdtemp(join(tmpdir(), "shop-"));
await writeFile(join(directory, "package.json"), '{ "type": "module" }\n');
await writeFile(
  join(directory, "totals.js"),
  TOTALS.replace(/export interface[^}]+}\n\n/, "").replace(/: readonly Line\[\]|: number/g, ""),
);
await writeFile(join(directory, "check.js"), CHECK);

const model = scriptedModel(
  ({ messages }) => {
    const begun = messages.findLastIndex((message) => message.getType() === "human");
    if (messages[begun]?.text !== TASK) return say("Done. The report has the details.");
    return (
      TURNS[messages.slice(begun).filter((message) => message.getType() === "ai").length] ?? say("Fixed.")
    );
  },
  { record: false },
);
const modes = new ApprovalModes({ isContained: true });
const agent = createDeepAgent({
  model,
  backend: new LocalShellBackend({ rootDir: directory, virtualMode: true }),
  middleware: [modes.guard] as never,
  interruptOn: modes.gate({ write_file: {}, edit_file: {} }) as never,
  budget: { maxCost: 2, prices: { scripted: { input: 3, output: 15 } } },
});

const site = await openPage({ agents: { agent }, restoreRoots: [directory] });
const { page } = site;
await page.setViewportSize({ width: 1360, height: 900 });
for (const other of OTHERS.toReversed()) {
  const { thread_id: id } = await site.call("POST", "/threads", {});
  const input = { messages: [{ role: "user", content: other }] };
  await site.call("POST", `/threads/${id}/runs/wait`, { assistant_id: "agent", input });
}
await tell(page, TASK);
await page.getByText("One call waits for you").waitFor();
await page.locator(".diff .added").first().waitFor();
await page.getByRole("link", { name: "Approvals 1" }).waitFor();
await page.mouse.move(0, 0);
await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
await page.screenshot({ path: TARGET });
await site.close();
await rm(directory, { recursive: true, force: true });
console.log(TARGET);
process.exit(0);
