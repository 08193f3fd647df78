/** The subagents of one agent. Each is built when it is first called, once. */

import type { Loop } from "../loop/contract/loop.ts";
import { passesGate } from "../loop/failures/caller-mistake.ts";
import type { LoopSpec } from "../loop/graph/build.ts";
import { type ParentState, stateOfAnyLoop, stateOfLoop } from "./child-state.ts";
import type { ChildRunnable } from "./run-child.ts";
import { isCompiled, type LocalSubAgent, type SubAgent } from "./spec.ts";

/** The agent a team works for, where its loop is ours. */
export interface Parent {
  readonly loop: Loop;
  readonly spec: LoopSpec;
}

/** Makes a runnable child; `parent` is the source of a fork. `responseFormat` replaces the child's own. */
export type BuildChild = (
  subAgent: SubAgent,
  parent: Parent | undefined,
  responseFormat?: unknown,
) => ChildRunnable;

export interface TeamOptions {
  readonly members: readonly LocalSubAgent[];
  readonly build: BuildChild;
  /** Shared parts of all subagents may ask a person. */
  readonly mayAsk?: boolean | undefined;
}

export class Team {
  readonly members: readonly LocalSubAgent[];
  readonly mayAsk: boolean;
  readonly #build: BuildChild;
  readonly #built = new Map<string, ChildRunnable>();
  readonly #formatted = new WeakMap<object, Map<string, ChildRunnable>>();
  #parent: Parent | undefined;
  #state: ParentState = stateOfAnyLoop;

  constructor({ members, build, mayAsk = false }: TeamOptions) {
    this.members = members;
    this.mayAsk = mayAsk;
    this.#build = build;
  }

  /** Called once, when the loop of the agent exists. */
  worksFor(parent: Parent): void {
    this.#parent = parent;
    this.#state = stateOfLoop(parent.loop, parent.spec.stateSchema);
  }

  get parentState(): ParentState {
    return this.#state;
  }

  /** Seconds a task may take. */
  get seconds(): number | undefined {
    return this.#parent?.loop.ownTimeoutOf("task");
  }

  get names(): readonly string[] {
    return this.members.map(({ name }) => name);
  }

  find(name: string): LocalSubAgent | undefined {
    return this.members.find((member) => member.name === name);
  }

  runnable(member: LocalSubAgent, responseFormat?: unknown): ChildRunnable {
    if (isCompiled(member)) return member.runnable as ChildRunnable;
    const kept = isObject(responseFormat) ? this.#formattedBy(responseFormat) : this.#built;
    const known = kept.get(member.name);
    if (known !== undefined) return known;
    const child = this.#made(member, responseFormat);
    kept.set(member.name, child);
    return child;
  }

  #made(member: SubAgent, responseFormat: unknown): ChildRunnable {
    try {
      return this.#build(member, this.#parent, responseFormat);
    } catch (error) {
      passesGate(error);
      throw error;
    }
  }

  #formattedBy(format: object): Map<string, ChildRunnable> {
    const kept = this.#formatted.get(format) ?? new Map<string, ChildRunnable>();
    this.#formatted.set(format, kept);
    return kept;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
