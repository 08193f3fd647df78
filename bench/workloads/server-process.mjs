/** A server in a process of its own, and the requests all servers are measured with. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { BENCH } from "../install.mjs";

/** Ours, LangGraph's development server, and its embedded one. */
export const SERVERS = ["deepwright", "langgraph-api", "langgraph-embedded"];

export async function startServer(program) {
  const token = randomBytes(24).toString("hex");
  const child = spawn(process.execPath, [join(BENCH, "servers", `${program}.mjs`)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, BENCH_TOKEN: token, NODE_ENV: "production" },
  });
  const ended = once(child, "exit");
  const [url] = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
  if (typeof url !== "string") throw new Error(`The server ${program} ended before it listened.`);
  return {
    program,
    url,
    headers: { "content-type": "application/json", "x-api-key": token },
    /** What the process used so far, user and system, all threads, in milliseconds: the kernel counts in hundredths of a second. */
    cpu: () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1].split(" ");
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    /** Resident memory, in bytes. */
    rss: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1]) * 1024,
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

/** Starts the named servers, and closes them whatever happens. */
export async function withServers(programs, use) {
  const servers = [];
  try {
    for (const program of programs) servers.push(await startServer(program));
    return await use(servers);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}

export async function post({ url, headers }, path, body) {
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return response;
}

export async function newThread(server) {
  const { thread_id } = await (await post(server, "/threads", {})).json();
  return thread_id;
}

const says = (content) => ({ messages: [{ role: "user", content }] });

/** A run that goes on by itself. */
export async function begin(server, threadId, text) {
  const request = { assistant_id: "echo", input: says(text), stream_mode: ["values"] };
  return await (await post(server, `/threads/${threadId}/runs`, request)).json();
}

/** A run from its request to the end of its stream: milliseconds to the first event and to the last. */
export async function timedRun(server, threadId) {
  const start = performance.now();
  const request = { assistant_id: "echo", input: says("hi"), stream_mode: ["values"] };
  const { body } = await post(server, `/threads/${threadId}/runs/stream`, request);
  let first;
  let text = "";
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (first === undefined && text.includes("event: metadata")) first = performance.now() - start;
  }
  if (!text.includes("echo: hi"))
    throw new Error(`${server.program} did not do the run: ${text.slice(-300)}`);
  return { first, whole: performance.now() - start };
}
