// Builds the image of the Dockerfile and tries a container of it over HTTP: npm run deploy:check. Takes minutes; needs
// podman or docker, and npm's and Debian's packages.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeBaseImage } from "./deploy-image.mjs";

const IMAGE = "localhost/deepwright-check";
const TOKEN = "a-token-for-the-check";
const START_TIMEOUT = 60_000;
const dockerfile = readFileSync("Dockerfile", "utf8");
const base = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)[1];
const engine = ["podman", "docker"].find((name) => spawnSync(name, ["--version"]).status === 0);
if (engine === undefined) throw new Error("Neither podman nor docker is here.");
const scratch = mkdtempSync(join(tmpdir(), "deepwright-deploy-"));
const container = `deepwright-check-${process.pid}`;
const volume = `${container}-data`;

/** Agents find the packages of the image. */
const CONFIG = `
import { createDeepAgent } from "deepwright";
import { say, scriptedModel } from "deepwright/testing";
const model = scriptedModel(({ messages }) => say("echo: " + messages.at(-1).text), { record: false });
export default { agents: { echo: createDeepAgent({ model }) } };
`;

try {
  buildImage();
  await tryContainer();
  console.log("The image builds, serves, and keeps what it was told.");
} finally {
  for (const args of [
    ["rm", "--force", container],
    ["volume", "rm", "--force", volume],
  ])
    spawnSync(engine, args, { stdio: "ignore" });
  rmSync(scratch, { recursive: true, force: true });
}

function buildImage() {
  const isThere = spawnSync(engine, ["image", "inspect", base]).status === 0;
  if (!isThere && spawnSync(engine, ["pull", base]).status !== 0)
    makeBaseImage({ name: base, scratch, engine, run });
  const format = engine === "podman" ? ["--format", "docker", "--pull=never"] : [];
  run(engine, ["build", ...format, "--network", "host", "--tag", IMAGE, "."]);
}

async function tryContainer() {
  const project = join(scratch, "project");
  mkdirSync(project);
  writeFileSync(join(project, "deepwright.config.mjs"), CONFIG);
  for (const path of [scratch, project]) chmodSync(path, 0o755);
  const port = await freePort();
  const ask = asker(`http://127.0.0.1:${port}`);

  start(project, port);
  await answers(ask);
  assert.equal((await ask("/info", undefined, {})).status, 401, "a request without a token is refused");
  assert.equal(run(engine, ["exec", container, "id", "-u"]).trim(), "10001", "it does not run as root");
  const { thread_id } = await (await ask("/threads", {})).json();
  const input = { messages: [{ role: "user", content: "hello" }] };
  const values = await (await ask(`/threads/${thread_id}/runs/wait`, { assistant_id: "echo", input })).json();
  assert.equal(values.messages.at(-1).content, "echo: hello");
  run(engine, ["exec", container, ...healthCommand(port)]);
  stop();

  start(project, port);
  await answers(ask);
  const { values: kept } = await (await ask(`/threads/${thread_id}`)).json();
  assert.equal(kept.messages.at(-1).content, "echo: hello", "the volume keeps threads");
  stop();
}

function start(project, port) {
  // Nobody checks by the clock here: that needs systemd, and is done once below. Limits no higher than a container's own.
  const limits =
    engine === "podman"
      ? ["--no-healthcheck", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"]
      : [];
  run(engine, [
    ...["run", "--detach", "--name", container, "--network", "host", ...limits],
    ...["--env", `DEEPWRIGHT_SERVER_TOKEN=${TOKEN}`],
    ...["--volume", `${volume}:/var/lib/deepwright`, "--volume", `${project}:/srv/app:ro`],
    ...[
      IMAGE,
      "serve",
      "deepwright.config.mjs",
      "--host",
      "0.0.0.0",
      "--port",
      String(port),
      "--open-health",
    ],
  ]);
}

function stop() {
  run(engine, ["stop", "--time", "40", container]);
  const code = run(engine, ["inspect", container, "--format", "{{.State.ExitCode}}"]).trim();
  assert.equal(code, "0", "SIGTERM ends it in order");
  run(engine, ["rm", container]);
}

/** What HEALTHCHECK runs, on this port. */
function healthCommand(port) {
  const [, command] = /HEALTHCHECK[\s\S]*?CMD (\[.*\])$/m.exec(dockerfile);
  return JSON.parse(command).map((word) => word.replace(":2024", `:${port}`));
}

function asker(url) {
  return (path, body, headers = { authorization: `Bearer ${TOKEN}` }) =>
    fetch(`${url}${path}`, {
      headers: { ...headers, ...(body && { "content-type": "application/json" }) },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
}

async function answers(ask) {
  for (const end = Date.now() + START_TIMEOUT; ; await sleep(250)) {
    const answer = await ask("/ok", undefined, {}).catch(() => undefined);
    if (answer?.ok) return;
    if (Date.now() > end)
      throw new Error(`The container does not answer:\n${run(engine, ["logs", container])}`);
  }
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

function run(program, args) {
  console.log(`$ ${program} ${args.filter((word) => !word.includes("\n")).join(" ")}`.slice(0, 200));
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0)
    throw new Error(`${program} ${args[0]} failed: ${error?.message ?? `${stdout}\n${stderr}`.slice(-4000)}`);
  return stdout;
}
