/**
 * A program that stands before a command in a sandbox without a network: it listens on the sandbox's own loopback
 * and leads each connection to the proxy's Unix socket.
 *
 * `node bridge.cjs <socket> <port> <variables> <command> [argument…]`. The command gets the variables (JSON) beside
 * its own and the same standard streams; its exit code is the bridge's (128 and the number after a signal, 127 when
 * there is no such program), signals are passed on, and the bridge ends with it. It runs inside the sandbox and is
 * trusted with nothing: who gets around it meets the same socket. Its text is here because a published package has no
 * file of its own that could be bound into a sandbox.
 */
export const BRIDGE_PROGRAM = `"use strict";
const { spawn } = require("node:child_process");
const { connect, createServer } = require("node:net");
const { constants } = require("node:os");

const [socketPath, port, variables, file, ...args] = process.argv.slice(2);
const SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGWINCH", "SIGCONT"];

function lead(client) {
  const proxy = connect({ path: socketPath, allowHalfOpen: true });
  client.setNoDelay(true);
  for (const [from, to] of [[client, proxy], [proxy, client]]) {
    from.on("error", () => to.destroy());
    from.once("close", () => to.destroySoon());
    from.pipe(to);
  }
}

function run() {
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  const env = { ...process.env, ...JSON.parse(variables) };
  // A session of its own, so that a signal for a whole group is passed on once.
  const child = spawn(file, args, { env, stdio: "inherit", detached: true });
  child.once("error", (error) => {
    process.stderr.write(file + ": " + (error.code === "ENOENT" ? "not found" : error.code) + "\\n");
    process.exit(error.code === "ENOENT" ? 127 : 126);
  });
  child.once("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
}

const server = createServer({ allowHalfOpen: true }, lead);
server.maxConnections = 256;
server.once("error", (error) => {
  process.stderr.write("the way to the network could not be opened: " + error.code + "\\n");
  process.exit(126);
});
server.listen(Number(port), "127.0.0.1", run);
`;
