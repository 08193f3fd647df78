/** The page in Chromium: opening a long thread, appending to it, and a team that streams; times of the main thread from Chrome's trace. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";
import { post, withServers } from "./server-process.mjs";

const BATCH = 1_000;
const POLL_MS = 200;
const SETTLED_MS = 1_000;
const PATIENCE_MS = 300_000;
const ANSWER = `The query reads **all rows**. An index helps:

\`\`\`sql
CREATE INDEX by_owner ON orders (owner, created_at);
\`\`\`

| query | before | after |
|---|---:|---:|
| list | 120 ms | 3 ms |

1. make the index
2. measure \`list\` again
`;

export function measure(_contender, { what, ...params }) {
  return withServers(["deepwright-page"], async ([server]) => {
    const browser = await chromium.launch({ executablePath: chromiumPath(), args: FLAGS });
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      page.setDefaultTimeout(PATIENCE_MS);
      const { code } = await (await post(server, "/sign-in/codes", {})).json();
      await page.goto(`${server.url}/#code=${code}`);
      await page.getByRole("navigation").waitFor();
      return await MEASURES[what]({ server, browser, page, ...params });
    } finally {
      await browser.close();
    }
  });
}

const MEASURES = { thread: measureThread, team: measureTeam };
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];

function chromiumPath() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = folders.map((folder) => join(folder, "chromium")).find((file) => existsSync(file));
  if (found === undefined) throw new Error("There is no chromium on the PATH.");
  return found;
}

async function measureThread({ server, browser, page, messages, characters }) {
  const metadata = { graph_id: "agent", assistant_id: "agent" };
  const { thread_id: threadId } = await (await post(server, "/threads", { metadata })).json();
  await fill(server, threadId, messages);
  await page.goto(`${server.url}/#/t/${threadId}`);
  await page.getByText(`answer ${messages}`).waitFor();
  const opened = await traced(browser, page, async () => {
    await page.reload();
    await page.getByText(`answer ${messages}`).waitFor();
    await page.waitForTimeout(SETTLED_MS);
  });
  const appended = await traced(browser, page, async () => {
    await countUpdates(page);
    await tell(page, `stream ${characters}`);
    await ended(server, threadId);
  });
  const updates = await page.evaluate(() => window.updates);
  const { longest, longestWall } = appended;
  return { open: opened.total, append: appended.total / updates, longest, longestWall };
}

async function measureTeam({ server, browser, page, agents, characters }) {
  await tell(page, "stream 10");
  await page
    .getByText("## What")
    .or(page.getByRole("heading", { name: "What" }))
    .first()
    .waitFor();
  await page.getByRole("tab", { name: "Agents" }).click();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
  const { total, seconds, ...frames } = await traced(browser, page, async () => {
    await tell(page, `team ${agents} ${characters}`);
    await ended(server, page.url().split("#/t/")[1]);
  });
  return { ...frames, share: total / 10 / seconds };
}

/** Questions and answers, each answer with its number. */
async function fill(server, threadId, count) {
  for (let from = 0; from < count; from += BATCH) {
    const messages = Array.from({ length: BATCH / 2 }, (_, turn) => turnAt(from + turn * 2 + 2)).flat();
    await post(server, `/threads/${threadId}/state`, { values: { messages } });
  }
}

function turnAt(number) {
  return [
    { type: "human", id: `h${number}`, content: `Why is query ${number} slow?` },
    { type: "ai", id: `a${number}`, content: `${ANSWER}\nThis was answer ${number}.` },
  ];
}

async function tell(page, text) {
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill(text);
  await field.press("Enter");
}

/** Asks the server: looking for a button again and again would be work of the page's main thread. */
async function ended({ url, headers }, threadId) {
  for (let wasBusy = false; ; ) {
    await new Promise((go) => setTimeout(go, POLL_MS));
    const { status } = await (await fetch(`${url}/threads/${threadId}`, { headers })).json();
    if (wasBusy && status !== "busy") return;
    wasBusy ||= status === "busy";
  }
}

/** Changes of the document by one task count once. */
async function countUpdates(page) {
  await page.evaluate(() => {
    window.updates = 0;
    const seen = new MutationObserver(() => {
      window.updates += 1;
    });
    seen.observe(document.querySelector(".conversation"), {
      childList: true,
      subtree: true,
      characterData: true,
    });
  });
}

/** Milliseconds of the tasks of the page's main thread: processor time of all and of the longest, and the longest on the clock. */
async function traced(browser, page, work) {
  const begun = performance.now();
  await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
  await work();
  const seconds = (performance.now() - begun) / 1_000;
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(
    ({ name, pid, tid, dur }) =>
      name === "ThreadControllerImpl::RunTask" && dur !== undefined && mains.has(`${pid} ${tid}`),
  );
  if (tasks.length === 0) throw new Error("The trace has no tasks of the page.");
  const most = (numbers) => numbers.reduce((one, other) => Math.max(one, other), 0) / 1_000;
  const times = tasks.map(({ tdur, dur }) => tdur ?? dur);
  return {
    total: times.reduce((sum, one) => sum + one, 0) / 1_000,
    longest: most(times),
    longestWall: most(tasks.map(({ dur }) => dur)),
    seconds,
  };
}
