/**
 * Budget, reservations and usage of the runs of a tree.
 *
 * Every run has a ledger; the ledger of an inner run also charges the ledgers above it. Before a model call, its
 * expected need is reserved in each of them; afterwards the real usage replaces the reservation. A call waits if it
 * would fit once the calls in flight use less than they reserved. So none is refused too early, and parallel calls
 * use no more than sequential ones would.
 */
import { TOOLS_NODE } from "../loop/contract/loop.ts";
import type { Usage, UsageByModel } from "../loop/messages/run-usage.ts";
import type { Limits } from "./limits.ts";
import { type ModelPrice, type ModelPrices, priceOf } from "./prices.ts";
import { addByAgent, addUsage, NO_USAGE, totalOf, type UsageByAgent } from "./usage.ts";

/** Expected usage of a call. */
export interface Need {
  readonly inputTokens: number;
  readonly tokens: number;
  readonly inputCost: number;
  readonly cost: number;
}

export type LimitName = "tokens" | "cost" | "steps" | "seconds";

export interface Refusal {
  readonly limit: LimitName;
  readonly used: number;
  readonly allowed: number;
  /** Least need of the refused call; undefined where it is one, or does not apply. */
  readonly needed?: number;
  /** The path of the agent that has the budget. */
  readonly owner: readonly string[];
}

/** Room for one call. Either end is for once. */
export interface Hold {
  release(): void;
  settle(usage: UsageByModel): void;
}

/** Usage that is stored with a thread: how much of the budget its run has used. */
export interface StoredUsage {
  readonly agents: UsageByAgent;
  readonly seconds: number;
}

export interface LedgerOptions {
  readonly parent?: Ledger | undefined;
  readonly limits?: Limits | undefined;
  readonly agentPath: readonly string[];
  /** The task of the run around this one in which it runs. */
  readonly namespace: string;
}

export class Ledger {
  readonly agentPath: readonly string[];
  readonly parent: Ledger | undefined;
  /** Outermost run only: a model without a price that was called although the cost is limited. */
  unpricedModel: string | undefined;
  readonly #limits: Limits | undefined;
  readonly #namespace: string;
  readonly #key: string;
  readonly #began = performance.now();
  #earlierSeconds = 0;
  #agents: UsageByAgent = {};
  #used: Usage = NO_USAGE;
  #inFlight = 0;
  #reservedTokens = 0;
  #reservedCost = 0;
  #refused: LimitName | undefined;
  #adopted = false;
  /** Usage of inner runs by the task they run in, until that task ends. */
  readonly #inside = new Map<string, UsageByAgent>();
  /** Used by this agent itself, and not yet handed to the thread. */
  #own: UsageByAgent = {};
  #waiting: (() => void)[] = [];
  /** Outermost run only: the ledgers of the inner runs, by namespace. */
  readonly #inner = new Map<string, Ledger>();

  constructor({ parent, limits, agentPath, namespace }: LedgerOptions) {
    this.parent = parent;
    this.#limits = limits;
    this.agentPath = agentPath;
    this.#namespace = namespace;
    this.#key = JSON.stringify(agentPath);
    if (parent !== undefined) this.outermost.#inner.set(namespace, this);
  }

  get used(): Usage {
    return this.#used;
  }

  get agents(): UsageByAgent {
    return this.#agents;
  }

  get seconds(): number {
    return this.#earlierSeconds + (performance.now() - this.#began) / 1000;
  }

  /** Whether this run has a budget of its own. */
  get hasLimits(): boolean {
    return this.#limits !== undefined;
  }

  /** Whether any budget of the tree limits cost. */
  get limitsCost(): boolean {
    return this.#chain().some((ledger) => ledger.#limits !== undefined && ledger.#limits.maxCost < Infinity);
  }

  /** As the nearest budget states it, else from the built-in table. */
  priceOf(model: string): ModelPrice | undefined {
    const stated: ModelPrices = Object.assign(
      {},
      ...this.#chain()
        .toReversed()
        .map((ledger) => ledger.#limits?.prices),
    );
    return priceOf(model, stated);
  }

  /** Takes over the usage that the thread stored for this run; only the first time. */
  adopt(stored: StoredUsage | undefined): void {
    if (this.#adopted) return;
    this.#adopted = true;
    if (stored === undefined) return;
    this.#earlierSeconds += stored.seconds;
    this.#add(stored.agents);
  }

  /** Waits where calls in flight may leave enough. */
  async reserve(need: Need, signal?: AbortSignal): Promise<Hold | Refusal> {
    const chain = this.#chain();
    for (;;) {
      signal?.throwIfAborted();
      const tooMany = this.#tooManyOfItsOwn();
      if (tooMany !== undefined) return tooMany;
      const refusing = chain.find((ledger) => ledger.#refusal(need) !== undefined);
      if (refusing !== undefined) return refusing.#refuse(need);
      const full = chain.find((ledger) => !ledger.#hasRoom(need));
      if (full === undefined) return this.#hold(need);
      await full.#change(signal);
    }
  }

  /** The engine shows the config of a run in its debug stream; this is nothing to show. */
  toJSON(): undefined {
    return undefined;
  }

  /** Usage of this agent itself that the thread has to store, since the last call. */
  takeOwn(): StoredUsage | undefined {
    const agents = this.#own;
    this.#own = {};
    return Object.keys(agents).length === 0 ? undefined : { agents, seconds: this.seconds };
  }

  /** The same of the runs inside one task of this run, which is over. */
  takeInside(namespace: string): StoredUsage | undefined {
    let agents: UsageByAgent | undefined;
    for (const [key, usage] of this.#inside) {
      if (key !== namespace && !key.startsWith(`${namespace}|`)) continue;
      agents = agents === undefined ? usage : addByAgent(agents, usage);
      this.#inside.delete(key);
      this.outermost.#inner.delete(key);
    }
    return agents === undefined ? undefined : { agents, seconds: this.seconds };
  }

  /** Charges the run that a task belongs to, for a call nothing was reserved for. To be asked of the outermost. */
  chargeAt(namespace: string, usage: UsageByModel): void {
    let found: Ledger = this;
    for (const [key, ledger] of this.#inner)
      if (namespace.startsWith(`${key}|`) && key.length > found.#namespace.length) found = ledger;
    const task = namespace.slice(found.#namespace === "" ? 0 : found.#namespace.length + 1);
    const agents = { [found.#key]: usage };
    if (task.startsWith(`${TOOLS_NODE}:`)) {
      found.#inside.set(namespace, addByAgent(found.#inside.get(namespace) ?? {}, agents));
      found.#add(agents);
    } else found.#charge(agents);
  }

  get outermost(): Ledger {
    return this.parent === undefined ? this : this.parent.outermost;
  }

  #chain(): readonly Ledger[] {
    return this.parent === undefined ? [this] : [this, ...this.parent.#chain()];
  }

  #add(agents: UsageByAgent): void {
    this.#agents = addByAgent(this.#agents, agents);
    this.#used = addUsage(this.#used, totalOf(agents));
    if (this.parent === undefined) return;
    const inside = this.parent.#inside;
    inside.set(this.#namespace, addByAgent(inside.get(this.#namespace) ?? {}, agents));
    this.parent.#add(agents);
  }

  #hold(need: Need): Hold {
    const chain = this.#chain();
    let isOpen = true;
    for (const ledger of chain) ledger.#reserveOne(need, 1);
    const end = (usage?: UsageByModel): void => {
      if (!isOpen) return;
      isOpen = false;
      for (const ledger of chain) ledger.#reserveOne(need, -1);
      if (usage !== undefined) this.#charge({ [this.#key]: usage });
      for (const ledger of chain) ledger.#wake();
    };
    return { release: () => end(), settle: end };
  }

  #charge(agents: UsageByAgent): void {
    this.#own = addByAgent(this.#own, agents);
    this.#add(agents);
  }

  #reserveOne(need: Need, sign: 1 | -1): void {
    this.#inFlight += sign;
    this.#reservedTokens += sign * need.tokens;
    this.#reservedCost += sign * need.cost;
  }

  /** The nearest limit on calls of one agent counts; calls of agents inside this one do not. */
  #tooManyOfItsOwn(): Refusal | undefined {
    const allowed =
      this.#chain()
        .map((ledger) => ledger.#limits?.maxStepsPerAgent ?? Infinity)
        .find((limit) => limit < Infinity) ?? Infinity;
    const used = this.#agents[this.#key]?.calls ?? 0;
    return used < allowed ? undefined : { limit: "steps", used, allowed, owner: this.agentPath };
  }

  /** The reason why the call cannot be made even if calls in flight use nothing; otherwise undefined. */
  #refusal({ inputTokens, inputCost }: Need): Refusal | undefined {
    if (this.#limits === undefined) return undefined;
    const { maxTokens, maxCost, maxSteps, maxSeconds } = this.#limits;
    const { tokens, cost, calls } = this.#used;
    const seconds = maxSeconds < Infinity ? this.seconds : 0;
    const owner = this.agentPath;
    if (calls + 1 > maxSteps) return { limit: "steps", used: calls, allowed: maxSteps, owner };
    if (seconds >= maxSeconds) return { limit: "seconds", used: seconds, allowed: maxSeconds, owner };
    if (this.#refused === "tokens" || tokens + inputTokens >= maxTokens)
      return { limit: "tokens", used: tokens, allowed: maxTokens, needed: inputTokens, owner };
    if (this.#refused === "cost" || cost + inputCost >= maxCost)
      return { limit: "cost", used: cost, allowed: maxCost, needed: inputCost, owner };
    return undefined;
  }

  /** One refusal ends the whole run: the rest of the budget would not be enough for the refused work. */
  #refuse(need: Need): Refusal {
    const refusal = this.#refusal(need) as Refusal;
    this.#refused = refusal.limit;
    this.#wake();
    return refusal;
  }

  #hasRoom({ tokens, cost }: Need): boolean {
    if (this.#limits === undefined || this.#inFlight === 0) return true;
    const { maxTokens, maxCost, maxSteps } = this.#limits;
    return (
      this.#used.tokens + this.#reservedTokens + tokens <= maxTokens &&
      this.#used.cost + this.#reservedCost + cost <= maxCost &&
      this.#used.calls + this.#inFlight + 1 <= maxSteps
    );
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        signal?.removeEventListener("abort", go);
        resolve();
      };
      this.#waiting.push(go);
      signal?.addEventListener("abort", go, { once: true });
    });
  }
}
