/** The thread that compares long texts: one request, one answer, in the order they come. */
import { parentPort } from "node:worker_threads";
import { type PatchRequest, patchBetween } from "./patch.ts";

parentPort?.on("message", (request: PatchRequest) => parentPort?.postMessage(patchBetween(request)));
