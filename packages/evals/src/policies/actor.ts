/** Plays a plan with a behaviour, one turn for each request. All it knows of the world is in the request. */
import { callTool, type ScriptedTurn, say } from "deepwright/testing";
import type { Behaviour } from "./behaviours.ts";
import {
  type Action,
  type Marks,
  type note,
  type Plan,
  STRUCTURED,
  type Step,
  type WireAction,
  wireOf,
  write,
} from "./plan.ts";
import { followAdvice, tellsToMoveOn, tellsToRead } from "./reactions.ts";
import type { RequestView, SeenResult } from "./request-view.ts";

type Work = Action & Marks;

/** A call that was made and whose result the next request should show. */
interface Pending {
  readonly id: string;
  readonly work: Work;
  readonly wire: WireAction;
  /** Attempts so far, this one included. */
  readonly attempts: number;
  /** The call after this one succeeds, such as the edit after a look at the file. */
  readonly next?: WireAction;
}

const UNKNOWN = "I do not know.";

export class Actor {
  private readonly plan: Step[];
  private readonly behaviour: Behaviour;
  private readonly name: string;
  private position = 0;
  private pending: Pending[] = [];
  private ids = 0;
  private repeated = 0;
  private saidDone = false;
  private hasGivenUp = false;

  constructor(plan: Plan, behaviour: Behaviour, name: string) {
    this.plan = [...plan];
    this.behaviour = behaviour;
    this.name = name;
  }

  turn(view: RequestView): ScriptedTurn {
    const open = this.pending.flatMap((pending) => this.afterResult(pending, view));
    if (this.hasGivenUp) return this.excuse();
    if (open.length > 0) return this.send(open, view);
    if (this.pending.length > 0) {
      this.pending = [];
      this.position += 1;
      this.repeated = 0;
    }
    return this.nextStep(view);
  }

  private nextStep(view: RequestView): ScriptedTurn {
    for (;;) {
      if (this.isDoneEarly()) return say("Done.");
      const step = this.plan[this.position];
      if (step === undefined) return say("Done.");
      if (step.do === "say" || step.do === "tell") {
        this.position += 1;
        return say(step.do === "say" ? step.text : told(step, view));
      }
      if (delegates(step) && !view.tools.has("task")) {
        this.plan.splice(this.position, 1, ...inlined(step));
        continue;
      }
      const work = this.workOf(step, view);
      if (work.length > 0)
        return this.send(
          work.map((each) => this.firstAttempt(each)),
          view,
        );
      this.position += 1;
    }
  }

  /** Once, in the middle of the plan. */
  private isDoneEarly(): boolean {
    const { doneAfter } = this.behaviour;
    if (doneAfter === undefined || this.saidDone) return false;
    if (this.position < Math.ceil(this.plan.length * doneAfter)) return false;
    this.saidDone = true;
    return true;
  }

  private workOf(step: Exclude<Step, { do: "say" | "tell" }>, view: RequestView): Work[] {
    if (step.do === "note") return [write(step.path, told(step, view))];
    if (step.do === "together") return step.steps.flatMap((each) => this.workOf(each, view));
    if (step.ifOffered && !view.tools.has(wireOf(step).name)) return [];
    if (!this.behaviour.editsTogether || step.do !== "edit") return [step];
    const rest = this.plan.slice(this.position);
    const end = rest.findIndex((each) => each.do !== "edit");
    const edits = rest.slice(0, end === -1 ? rest.length : end) as Work[];
    this.position += edits.length - 1;
    return edits;
  }

  private firstAttempt(work: Work): Pending {
    const first = this.behaviour.first ?? ((step: Work) => wireOf(step.wrongly ?? step));
    return { id: "", work, wire: first(work), attempts: 1 };
  }

  /** The calls that follow from a result; none when the step is finished. */
  private afterResult(pending: Pending, view: RequestView): Pending[] {
    const result = view.results().find(({ id }) => id === pending.id);
    if (result === undefined) return [this.again(pending, pending.wire)];
    if (!result.failed) return this.afterSuccess(pending, result, view);
    if (pending.work.whatever) return [];
    const { takesAdvice = true } = this.behaviour;
    const advised = takesAdvice ? this.advised(pending, result) : undefined;
    if (advised !== undefined) return advised;
    const { patience = 1, whenStuck } = this.behaviour;
    if (pending.attempts <= patience) return [this.again(pending, pending.wire)];
    if (whenStuck !== "goes on") this.hasGivenUp = true;
    return [];
  }

  private afterSuccess(pending: Pending, { text }: SeenResult, view: RequestView): Pending[] {
    if (pending.next !== undefined) return [this.again(pending, pending.next)];
    const { readsOn, repeats = 0 } = this.behaviour;
    const [, offset] = /offset[=: ]+(\d+)/i.exec(text) ?? [];
    if (readsOn && pending.wire.name === "read_file" && offset !== undefined) {
      const args = { ...pending.wire.args, offset: Number(offset) };
      return [{ ...pending, wire: { name: "read_file", args }, attempts: 1 }];
    }
    const saved = savedIn(text);
    const { look } = pending.work;
    if (look !== undefined && saved !== undefined && !text.includes(look) && pending.wire.name !== "grep")
      return [this.again(pending, { name: "grep", args: { pattern: look, path: saved } })];
    const isTold = tellsToMoveOn(view.reminder()) || tellsToMoveOn(text.slice(-300));
    if (isTold || this.repeated >= repeats) return [];
    this.repeated += 1;
    return [{ ...pending, attempts: 1 }];
  }

  private advised(pending: Pending, { text }: SeenResult): Pending[] | undefined {
    const { work, wire, attempts } = pending;
    if (attempts > 4) return undefined;
    const advice = followAdvice(work, wire, text);
    if (advice !== undefined) return advice.map((next) => this.again(pending, next));
    const right = wireOf(work);
    const isNew = JSON.stringify(right) !== JSON.stringify(wire);
    if (work.do === "edit" && (tellsToRead(text) || (this.behaviour.recovers && isNew)))
      return [{ ...this.again(pending, wireOf({ do: "read", path: work.path })), next: right }];
    if (this.behaviour.recovers && isNew) return [this.lookAround(pending, right)];
    return undefined;
  }

  /** A careful model lists files before it tries the right path. */
  private lookAround(pending: Pending, right: WireAction): Pending {
    const path = right.args.file_path;
    if (typeof path !== "string") return this.again(pending, right);
    const pattern = `**/${path.slice(path.lastIndexOf("/") + 1)}`;
    return { ...this.again(pending, { name: "glob", args: { pattern } }), next: right };
  }

  private again({ work, attempts }: Pending, wire: WireAction): Pending {
    return { id: "", work, wire, attempts: attempts + 1 };
  }

  private send(calls: readonly Pending[], view: RequestView): ScriptedTurn {
    this.pending = calls.map((each) => {
      this.ids += 1;
      return { ...each, id: `call_${this.name}_${this.ids}` };
    });
    const turns = this.pending.map(({ id, wire: { name, args, raw } }) => {
      const tool = name === STRUCTURED ? structuredTool(view) : name;
      return raw === undefined ? { id, name: tool, args } : { id, name: tool, rawArgs: raw };
    });
    return { ...callTool(""), toolCalls: turns };
  }

  /** A model that gave up says so, and does the rest of the plan no more. */
  private excuse(): ScriptedTurn {
    this.pending = [];
    const next = this.plan.findIndex(
      (step, index) => index > this.position && (step.do === "say" || step.do === "tell"),
    );
    this.position = next === -1 ? this.plan.length : next + 1;
    this.hasGivenUp = false;
    return say("I could not do this: a tool failed.");
  }
}

function delegates(step: Step): boolean {
  return step.do === "delegate" || (step.do === "together" && step.steps.some(delegates));
}

/** Work that nobody can be given is done by the model itself, step by step. */
function inlined(step: Step): Step[] {
  if (step.do === "together") return step.steps.flatMap(inlined);
  if (step.do !== "delegate") return [step];
  return step.plan.filter(({ do: what }) => what !== "say" && what !== "tell");
}

/** The file in which a harness says that it keeps the whole result. */
function savedIn(text: string): string | undefined {
  return /(\/[\w./-]*(?:large_tool_results|large-results|results)[\w./-]*\w)/.exec(text)?.[1];
}

function told({ find, text }: Pick<ReturnType<typeof note>, "find" | "text">, view: RequestView): string {
  const found = find.exec(view.text);
  return found === null ? UNKNOWN : text.replace(/\$(\d)/g, (_, group: string) => found[Number(group)] ?? "");
}

/** The tool for structured answers, which LangChain names after the schema or `extract-1`. */
function structuredTool({ tools }: RequestView): string {
  return [...tools].find((name) => /^extract|report|answer|response/i.test(name)) ?? STRUCTURED;
}
