import { bundleProgram, type WorkerProgram } from "../../../checkpoint/src/chaos/program.ts";

export function bundleServer(): Promise<WorkerProgram> {
  return bundleProgram({ "server-program": new URL("./server-program.ts", import.meta.url) });
}
