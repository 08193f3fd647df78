/** A server of LangGraph in a process of its own, from what `bench/` has installed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Server } from "./talk-for-tests.ts";

export interface Peer extends Server {
  close(): Promise<void>;
}

export async function startPeer(program: "langgraph-api" | "langgraph-embedded"): Promise<Peer> {
  const child = spawn(process.execPath, [resolve("bench", "servers", `${program}.mjs`)]);
  let complaints = "";
  child.stderr.on("data", (data) => {
    complaints += data;
  });
  const ended = once(child, "exit");
  const line = once(createInterface(child.stdout), "line") as Promise<[string]>;
  const first = await Promise.race([line, ended]);
  if (typeof first[0] !== "string") throw new Error(`${program} ended: ${complaints}`);
  return {
    url: first[0],
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
