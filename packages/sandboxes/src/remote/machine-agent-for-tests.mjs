/**
 * Runs inside the machine of the tests: does what it is told over standard input, a JSON value a line, and answers
 * over standard output the same way. All commands share its process tree, as they do in a vendor's sandbox.
 */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

const children = new Map();
const send = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

function start({ call, argv, cwd, env, stdin }) {
  const child = spawn(argv[0], argv.slice(1), {
    cwd: cwd ?? "/",
    env: { ...process.env, ...env },
    stdio: [stdin === "pipe" ? "pipe" : "ignore", "pipe", "pipe"],
    detached: true,
  });
  children.set(call, child);
  child.on("error", (error) => send({ call, type: "failed", code: error.code ?? "ERROR" }));
  child.on("spawn", () => send({ call, type: "started", pid: child.pid }));
  child.stdout.on("data", (data) => send({ call, type: "stdout", data: data.toString("base64") }));
  child.stderr.on("data", (data) => send({ call, type: "stderr", data: data.toString("base64") }));
  let drained;
  // What it wrote comes first; what others still hold open is not waited for.
  child.on("exit", (code, signal) => {
    drained = setTimeout(() => send({ call, type: "exit", code, signal }), 200);
  });
  child.on("close", (code, signal) => {
    clearTimeout(drained);
    children.delete(call);
    send({ call, type: "close", code, signal });
  });
}

const files = {
  read: ({ path }) => ({ data: readFileSync(path).toString("base64") }),
  write: ({ path, data, makeParents, mode }) => {
    if (makeParents) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.from(data, "base64"), mode === undefined ? {} : { mode });
    return {};
  },
  makeDirectory: ({ path }) => {
    mkdirSync(path, { recursive: true });
    return {};
  },
  stat: ({ path }) => {
    const stat = statSync(path);
    return {
      size: stat.size,
      isDirectory: stat.isDirectory(),
      isFile: stat.isFile(),
      mode: stat.mode,
      modified: stat.mtimeMs,
    };
  },
  list: ({ path }) => ({ names: readdirSync(path) }),
  remove: ({ path }) => {
    rmSync(path, { recursive: true, force: true });
    return {};
  },
};

function handle(request) {
  const { call, type } = request;
  if (type === "exec") return start(request);
  const child = children.get(request.of);
  if (type === "input")
    return request.end ? child?.stdin?.end() : child?.stdin?.write(Buffer.from(request.data, "base64"));
  if (type === "kill") {
    try {
      if (child?.pid) process.kill(request.group ? -child.pid : child.pid, request.signal ?? "SIGKILL");
    } catch {
      // It is over.
    }
    return undefined;
  }
  try {
    return send({ call, type: "done", ...files[type](request) });
  } catch (error) {
    return send({ call, type: "failed", code: error.code ?? "ERROR", message: error.message });
  }
}

createInterface({ input: process.stdin })
  .on("line", (line) => handle(JSON.parse(line)))
  .on("close", () => process.exit(0));
send({ type: "ready" });
