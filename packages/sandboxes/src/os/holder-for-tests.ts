/**
 * A process that runs a command in a sandbox. The variable HOLDER has the options and the command: tests look for the
 * command among the arguments of processes.
 */
import { osSandbox } from "../os.ts";

const { options, command } = JSON.parse(process.env.HOLDER ?? "{}");
const opened = await osSandbox(options).open({ key: "holder", env: {} });
await opened.sandbox.execute(command, { timeout: 3600 });
