import { backendSuite, sandboxSuite } from "deepwright/testing";
import { afterAll, describe, test } from "vitest";
import { MachineFailure, MachineForTests } from "./machine-for-tests.ts";
import { type RemoteMachine, RemoteSandbox, type TransferFailure } from "./remote-sandbox.ts";

const HOME = "/home/user";
const machine = await MachineForTests.create({ paths: [HOME] });
afterAll(() => machine.kill());

/** A vendor that says nothing about why a transfer failed. */
function remote(): RemoteMachine {
  return {
    id: machine.id,
    workingDirectory: HOME,
    run: async (line, { signal }) => {
      const process = machine.shell(line);
      signal.addEventListener("abort", () => undefined);
      const { exitCode, stdout, stderr } = await process.exited;
      return { output: Buffer.concat([stdout, stderr]).toString("utf8"), exitCode };
    },
    put: async (path, bytes) => attempt(() => machine.writeFile(path, bytes).then(() => undefined)),
    get: async (path) => attempt(() => machine.readFile(path)),
  };
}

async function attempt<Result>(act: () => Promise<Result>): Promise<Result | TransferFailure> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof MachineFailure) return "unclear";
    throw error;
  }
}

let count = 0;
async function open() {
  const backend = new RemoteSandbox(remote());
  count += 1;
  const root = `${HOME}/case-${count}`;
  await machine.makeDirectory(root);
  return { backend, root, close: () => machine.remove(root) };
}

sandboxSuite({ describe, test }, { name: "a sandbox over a remote machine", open });
backendSuite(
  { describe, test },
  {
    name: "the files of a remote machine",
    open,
    canAppend: true,
    canDelete: true,
    canTransfer: true,
    detectsEncodings: true,
    keepsEmptyDirectories: true,
    runs: 1,
  },
);
