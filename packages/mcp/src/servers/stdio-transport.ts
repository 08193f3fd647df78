/** The protocol over the pipes of a program: one message a line. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { type LongProcess, OutputRing, startLongProcess } from "deepwright/internal";
import type { loadSdk } from "../load-mcp.ts";
import { MessageLines } from "./message-lines.ts";
import type { Program } from "./program.ts";

type Sdk = Pick<Awaited<ReturnType<typeof loadSdk>>, "deserializeMessage" | "serializeMessage">;

/** Characters kept of the program's stderr. */
const MOST_STDERR = 8 * 1024;
/** Most bytes of one message. */
const MOST_MESSAGE = 16 * 1024 * 1024;
/** Lines that are no messages, as programs print them that were not made for this, before it is given up. */
const MOST_STRAY = 100;
/** Milliseconds to read the rest of the pipe after the program has ended. */
const LAST_WORDS_MS = 500;

/** Unlike the SDK's transport it ends all child processes of the program, and limits the size of messages. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];

  private process: LongProcess | undefined;
  private readonly stderr = new OutputRing(MOST_STDERR);
  private readonly lines = new MessageLines(MOST_MESSAGE);
  private stray = 0;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly program: Program,
    private readonly sdk: Sdk,
  ) {}

  async start(): Promise<void> {
    const started = startLongProcess(this.program);
    this.process = started;
    const { child } = started;
    child.stderr?.on("data", (chunk: Uint8Array) => this.stderr.add(chunk));
    child.stdin?.on("error", (error) => this.onerror?.(error));
    child.stdout?.on("data", (chunk: Buffer) => this.take(chunk));
    child.stdout?.on("error", (error) => this.onerror?.(error));
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    void started.ended.then(() => this.close());
  }

  /** The last lines of stderr, for people. */
  complaint(): string {
    return this.stderr.collected().output.trim();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.process?.child.stdin;
    if (!stdin?.writable || this.closing) throw new Error("The program has ended.");
    await new Promise<void>((resolve, reject) => {
      stdin.write(this.sdk.serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      await this.process?.stop();
      await this.lastWords();
      this.onclose?.();
    })();
    return this.closing;
  }

  /** The last output may arrive after the exit event. */
  private async lastWords(): Promise<void> {
    const stderr = this.process?.child.stderr;
    if (!stderr || stderr.closed) return;
    const closed = new Promise<void>((resolve) => stderr.once("close", resolve));
    await Promise.race([closed, sleep(LAST_WORDS_MS, undefined, { ref: false })]);
  }

  private take(chunk: Buffer): void {
    if (this.closing) return;
    try {
      for (const line of this.lines.take(chunk)) if (line !== "") this.hear(line);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  private hear(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = this.sdk.deserializeMessage(line);
    } catch {
      this.stray += 1;
      if (this.stray > MOST_STRAY) throw new Error("It does not speak the protocol.");
      return;
    }
    this.onmessage?.(message);
  }

  private fail(error: Error): void {
    this.onerror?.(error);
    void this.close();
  }
}
