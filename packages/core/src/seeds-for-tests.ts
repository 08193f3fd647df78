/** One random life of a thread: runs that are stopped, killed, refused, answered badly, and gone on with. */
import type { BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { z } from "zod";
import { createDeepAgent } from "./agent.ts";
import { callTool, fault, type ScriptedTurn, say, scriptedModel, type Turn } from "./testing/index.ts";

/** The same numbers for the same seed. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, but not, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }
}

/** Disturbance of a run at its n-th event: a model call, a tool call, or a write to the saver. */
interface Disturbance {
  readonly kind: "none" | "abort" | "kill";
  at: number;
}

/** A process that is killed stores nothing any more; the next one finds what was stored. */
class MortalSaver extends MemorySaver {
  isDead = false;
  onWrite: () => void = () => {};

  override async put(...args: Parameters<MemorySaver["put"]>): ReturnType<MemorySaver["put"]> {
    this.#live();
    return super.put(...args);
  }

  override async putWrites(...args: Parameters<MemorySaver["putWrites"]>): Promise<void> {
    this.#live();
    return super.putWrites(...args);
  }

  #live(): void {
    this.onWrite();
    if (this.isDead) throw new Error("killed");
  }

  /** The saver as a new process sees it. */
  revived(): MortalSaver {
    const next = new MortalSaver();
    Object.assign(next, { storage: this.storage, writes: this.writes });
    return next;
  }
}

export interface SeedOutcome {
  readonly violations: readonly string[];
  readonly modelCalls: number;
  readonly compactions: number;
}

const STEPS = 6;
const WINDOW = 6_000;
/** Characters of a request from which the provider sometimes finds that it does not fit. */
const FULL = 10_000;

function sizeOf(messages: readonly BaseMessage[]): number {
  return messages.reduce((sum, message) => sum + message.text.length, 0);
}

/** Lives through `STEPS` disturbed runs and one calm one, which must succeed. */
export class ThreadLife {
  readonly #random: SeededRandom;
  #saver = new MortalSaver();
  #disturbance: Disturbance = { kind: "none", at: 0 };
  #controller = new AbortController();
  readonly #model;
  #agent;
  #replies = 0;
  #summaries = 0;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    this.#model = scriptedModel(({ tools, messages }) => this.#turn(tools.length > 0, sizeOf(messages)), {
      profile: { maxInputTokens: WINDOW },
      record: false,
    });
    this.#agent = this.#newAgent();
  }

  async live(): Promise<SeedOutcome> {
    for (let step = 0; step < STEPS; step += 1) await this.#disturbedRun();
    await this.#calmRun();
    return {
      violations: this.#model.violations.map((violation) => `${violation.rule}: ${violation.message}`),
      modelCalls: this.#model.callCount,
      compactions: this.#summaries,
    };
  }

  #newAgent() {
    this.#saver = this.#saver.revived();
    this.#saver.onWrite = () => this.#event();
    return createDeepAgent({
      model: this.#model,
      tools: this.#tools(),
      checkpointer: this.#saver,
      interruptOn: { ask: true },
    });
  }

  #tools() {
    const make = (name: string, run: () => unknown) =>
      tool(
        async () => {
          this.#event();
          return run();
        },
        { name, description: name, schema: z.object({ n: z.number().optional() }) },
      );
    return [
      make("short", () => "ok"),
      make("long", () => "A line of a long answer.\n".repeat(20 + this.#random.below(200))),
      make("huge", () => "x ".repeat(60_000)),
      make("fails", () => {
        throw new Error("it broke");
      }),
      make("slow", () => new Promise((resolve) => setTimeout(() => resolve("slow"), 1))),
      make("ask", () => "approved and done"),
    ];
  }

  #event(): void {
    if (this.#disturbance.kind === "none") return;
    this.#disturbance.at -= 1;
    if (this.#disturbance.at !== 0) return;
    if (this.#disturbance.kind === "kill") this.#saver.isDead = true;
    this.#controller.abort();
  }

  #turn(hasTools: boolean, size: number): Turn {
    this.#event();
    const random = this.#random;
    if (!hasTools) {
      this.#summaries += 1;
      return random.chance(0.2) ? fault.status(500) : say("The summary of what was done.");
    }
    this.#replies += 1;
    if (size > FULL && random.chance(0.3)) return fault.contextOverflow();
    if (random.chance(0.35)) return say(`Words ${this.#replies}. ${"more ".repeat(random.below(60))}`);
    const calls = Array.from({ length: 1 + random.below(3) }, () => this.#call());
    return {
      text: random.chance(0.3) ? "I will look." : "",
      toolCalls: calls.flatMap((c) => c.toolCalls ?? []),
    };
  }

  #call(): ScriptedTurn {
    const random = this.#random;
    const name = random.pick(["short", "long", "huge", "fails", "slow", "ask", "nowhere", "write", "broken"]);
    if (name === "write")
      return callTool("write_file", {
        file_path: `/f${random.below(4)}.txt`,
        content: "text ".repeat(random.below(900)),
      });
    if (name === "broken") return { toolCalls: [{ name: "short", rawArgs: '{"n": ' }] };
    return callTool(name, { n: random.below(9) });
  }

  async #disturbedRun(): Promise<void> {
    const kind = this.#random.pick(["none", "abort", "abort", "kill"] as const);
    this.#disturbance = { kind, at: 1 + this.#random.below(14) };
    await this.#run(await this.#nextInput()).catch(() => undefined);
    this.#disturbance = { kind: "none", at: 0 };
    if (this.#saver.isDead || this.#random.chance(0.3)) this.#agent = this.#newAgent();
  }

  /** A person can continue, whatever happened before. */
  async #calmRun(): Promise<void> {
    this.#agent = this.#newAgent();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const input = await this.#nextInput(true);
      try {
        await this.#run(input);
      } catch (error) {
        // The answer was stored before the process that took it was killed: there is only to go on.
        if ((error as { code?: string }).code === "NOTHING_TO_RESUME") await this.#run(null);
        else throw error;
      }
    }
  }

  async #run(input: unknown): Promise<void> {
    this.#controller = new AbortController();
    const config = {
      configurable: { thread_id: "life" },
      signal: this.#controller.signal,
      recursionLimit: 60,
    };
    await this.#agent.invoke(input as never, config as never);
  }

  async #nextInput(isCalm = false): Promise<unknown> {
    const random = this.#random;
    const state = await this.#agent.getState({ configurable: { thread_id: "life" } });
    const asked = state.tasks.flatMap((task) => task.interrupts ?? []);
    const question = {
      messages: [{ role: "user", content: `Do something. ${"please ".repeat(random.below(30))}` }],
    };
    if (asked.length > 0 && random.chance(isCalm ? 1 : 0.75)) return this.#answer(asked[0]?.value, isCalm);
    if (state.tasks.length > 0 && random.chance(0.5)) return null;
    return question;
  }

  #answer(value: unknown, isCalm: boolean): Command {
    const count = (value as { actionRequests?: unknown[] }).actionRequests?.length ?? 1;
    if (!isCalm && this.#random.chance(0.15)) return new Command({ resume: { decisions: "yes" } });
    const decisions = Array.from({ length: count }, () =>
      this.#random.pick([
        { type: "approve" },
        { type: "reject", message: "no" },
        { type: "respond", message: "42" },
        { type: "edit", editedAction: { name: "ask", args: { n: 1 } } },
      ]),
    );
    return new Command({ resume: { decisions } });
  }
}
