/** A tenant that asks for what costs a server most: large histories, listings and diffs, and bodies that never end. */
import { request } from "node:http";

const [url] = process.argv.slice(2);
const headers = { "content-type": "application/json", "x-api-key": "hostile" };
const AT_ONCE = 8;
const UNFINISHED = 100;
const MB = 1024 * 1024;

const threads = await prepared();
let attack;
process.on("message", async (order) => {
  if (order === "attack") attack = startAttack();
  else {
    await attack.stop();
    process.send("rested");
  }
});
process.send("ready");

async function prepared() {
  const [history, diff, runs] = [await newThread("notes"), await newThread("notes"), await newThread("echo")];
  await update(history, { "/large.txt": lines(12 * MB, "large") });
  for (let turn = 0; turn < 30; turn += 1) await update(history, { "/small.txt": `turn ${turn}` });
  for (const version of ["one", "two"])
    await update(
      diff,
      Object.fromEntries(
        Array.from({ length: 20 }, (_, index) => [
          `/${index}.txt`,
          shuffled(12 * 1024, `${version}${index}`),
        ]),
      ),
    );
  for (let turn = 0; turn < 20; turn += 1) await run(runs, "echo", "hi", lines(15 * MB, `run ${turn}`));
  return { history, diff, runs };
}

function startAttack() {
  let stopped = false;
  const requests = [
    () => ask("POST", `/threads/${threads.history}/history`, { limit: 1_000 }),
    () => ask("GET", `/threads/${threads.runs}/runs?limit=1000&select=kwargs`),
    () => ask("GET", `/threads/${threads.diff}/files/diff`),
    () => ask("GET", `/threads/${threads.history}/state`),
    () => ask("POST", "/threads/search", { limit: 1_000 }),
  ];
  const open = Array.from({ length: UNFINISHED }, unfinishedBody);
  const loops = Array.from({ length: AT_ONCE }, async (_, start) => {
    for (let turn = start; !stopped; turn += 1) await requests[turn % requests.length]();
  });
  return {
    stop: async () => {
      stopped = true;
      for (const body of open) body.destroy();
      await Promise.all(loops);
    },
  };
}

/** Five megabytes of a body whose end never comes. */
function unfinishedBody() {
  const body = request(`${url}/threads`, { method: "POST", headers, agent: false });
  body.on("error", () => {}).on("response", (response) => response.on("error", () => {}).resume());
  body.write(`{"metadata":{"text":"${"x".repeat(5 * MB)}`);
  return body;
}

/** The answer is thrown away. A refusal is an answer, and so is a closed connection. */
async function ask(method, path, body) {
  try {
    const response = await fetch(`${url}${path}`, { method, headers, body: body && JSON.stringify(body) });
    for await (const _ of response.body ?? []);
    if (response.status === 429 || response.status === 503) await new Promise((done) => setTimeout(done, 20));
    return response;
  } catch {
    return undefined;
  }
}

async function newThread(agent) {
  const response = await fetch(`${url}/threads`, { method: "POST", headers, body: "{}" });
  const { thread_id: id } = await response.json();
  await run(id, agent, "hi");
  return id;
}

/** The note is stored with the run, and not in the thread's state, which would grow with every run. */
async function run(threadId, agent, content, note) {
  const input = { messages: [{ role: "user", content }] };
  const config = { configurable: { note } };
  await mustWork("POST", `/threads/${threadId}/runs/wait`, { assistant_id: agent, input, config });
}

async function update(threadId, texts) {
  const files = Object.fromEntries(Object.entries(texts).map(([path, content]) => [path, { content }]));
  await mustWork("POST", `/threads/${threadId}/state`, { values: { files } });
}

async function mustWork(method, path, body) {
  const response = await ask(method, path, body);
  if (!response?.ok) throw new Error(`${method} ${path}: ${response?.status}`);
}

function lines(bytes, word) {
  return Array.from({ length: Math.ceil(bytes / 64) }, (_, index) => `${word} ${index}`.padEnd(63, ".")).join(
    "\n",
  );
}

/** Short lines that repeat in another order: the worst there is for a diff. */
function shuffled(bytes, seed) {
  let state = [...seed].reduce((sum, character) => sum * 31 + character.charCodeAt(0), 7) >>> 0;
  const next = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
  return Array.from({ length: bytes / 2 }, () => "abcdefgh"[next() >>> 29]).join("\n");
}
