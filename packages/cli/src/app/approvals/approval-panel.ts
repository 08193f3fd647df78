/** A question about calls, answered one by one or together. What is asked stands in the scrollback; here is the menu. */
import { isDeepStrictEqual } from "node:util";
import type { AllowRule } from "@deepwright/server";
import type { Answers, CallQuestion, Decision, Question } from "../../approval/question.ts";
import type { RuleScope } from "../session/place.ts";

export interface Choice {
  readonly key: string;
  readonly label: string;
  readonly act:
    | "approve"
    | "approve-all"
    | "one-by-one"
    | "always"
    | "reject"
    | "reject-all"
    | "edit"
    | "respond"
    | "view"
    | "answer";
  readonly rule?: AllowRule;
  /** How long the approval of exactly this call holds. */
  readonly remember?: "thread";
  readonly isForProject?: boolean;
}

export class ApprovalPanel {
  private at = { question: 0, call: 0 };
  private readonly decisions = new Map<string, Decision[]>();
  private readonly ownAnswers = new Map<string, string>();
  private edited: Record<string, unknown> | undefined;
  selected = 0;
  /** Whether the person has seen every call that is open, and not only the first. */
  isAllShown = false;

  constructor(
    private readonly questions: readonly Question[],
    private readonly threadId: string,
    /** The first words of a plain command. */
    private readonly prefixOf: (command: string) => readonly string[] | undefined,
    /** For how long the place keeps rules. */
    private readonly scopes: readonly RuleScope[] = ["thread", "project"],
  ) {}

  get question(): Question | undefined {
    return this.questions[this.at.question];
  }

  /** The call that is asked about now; undefined: a tool asks something of its own, or all is answered. */
  get call(): CallQuestion | undefined {
    const call = this.question?.calls[this.at.call];
    return call && this.edited ? { ...call, args: this.edited } : call;
  }

  get isEdited(): boolean {
    return (
      this.edited !== undefined && !isDeepStrictEqual(this.edited, this.question?.calls[this.at.call]?.args)
    );
  }

  get isDone(): boolean {
    return this.question === undefined;
  }

  /** Calls that wait, this one included. */
  get open(): number {
    const later = this.questions
      .slice(this.at.question + 1)
      .reduce((sum, { calls }) => sum + Math.max(calls.length, 1), 0);
    return later + Math.max((this.question?.calls.length ?? 0) - this.at.call, this.question ? 1 : 0);
  }

  /** Calls after this one that wait for the same answer. */
  get rest(): readonly { readonly question: Question; readonly call: CallQuestion }[] {
    return this.questions.flatMap((question, i) =>
      question.calls
        .filter((_, j) => i > this.at.question || (i === this.at.question && j > this.at.call))
        .map((call) => ({ question, call })),
    );
  }

  get total(): number {
    return this.questions.reduce((sum, { calls }) => sum + Math.max(calls.length, 1), 0);
  }

  choices(isAlways: boolean): readonly Choice[] {
    const { call } = this;
    if (!call) return [{ key: "r", label: "answer it", act: "answer" }];
    if (this.isAllShown) return this.allChoices;
    if (isAlways) return this.alwaysChoices(call);
    const may = new Set(call.allowed);
    const canApprove = may.has(this.isEdited ? "edit" : "approve");
    const many = this.open > 1 && !this.isEdited;
    const all: (Choice | false)[] = [
      canApprove && { key: "y", label: "yes, run it", act: "approve" },
      may.has("approve") &&
        !this.isEdited && { key: "a", label: "yes, and do not ask again…", act: "always" },
      many &&
        may.has("approve") && {
          key: "Y",
          label: `yes to all ${this.open}: shows the others first`,
          act: "approve-all",
        },
      may.has("reject") && { key: "n", label: "no, and say why", act: "reject" },
      many && may.has("reject") && { key: "N", label: `no to all ${this.open}`, act: "reject-all" },
      may.has("edit") && { key: "e", label: "change its arguments", act: "edit" },
      may.has("respond") && { key: "r", label: "give its result yourself", act: "respond" },
      { key: "v", label: "show all of it", act: "view" },
    ];
    return all.filter((choice) => choice !== false);
  }

  private get allChoices(): readonly Choice[] {
    return [
      { key: "Y", label: `yes, run all ${this.open} shown above`, act: "approve-all" },
      { key: "N", label: `no to all ${this.open}`, act: "reject-all" },
      { key: "o", label: "decide one by one", act: "one-by-one" },
    ];
  }

  private alwaysChoices(call: CallQuestion): readonly Choice[] {
    const { tool } = call;
    const { threadId } = this;
    const prefix = tool === "execute" ? this.prefixOf(String(call.args.command)) : undefined;
    const words = prefix?.join(" ");
    const every = tool === "execute" ? "every command" : `every ${tool}`;
    const all: (Omit<Choice, "key"> | false)[] = [
      { label: "exactly this call, in this thread", act: "approve", remember: "thread" },
      words !== undefined && {
        label: `commands that begin with \`${words}\`, in this thread`,
        act: "approve",
        rule: { tool, prefix: prefix ?? [], threadId },
      },
      { label: `${every} in this thread`, act: "approve", rule: { tool, threadId } },
      words !== undefined
        ? {
            label: `\`${words} *\` in this project, from now on`,
            act: "approve",
            rule: { tool, prefix: prefix ?? [] },
            isForProject: true,
          }
        : {
            label: `${every} in this project, from now on`,
            act: "approve",
            rule: { tool },
            isForProject: true,
          },
    ];
    return all
      .filter((choice) => choice !== false)
      .filter(({ rule, isForProject }) => !rule || this.scopes.includes(isForProject ? "project" : "thread"))
      .map((choice, i) => ({ key: String(i + 1), ...choice }));
  }

  approve(remember?: "thread"): void {
    const { call } = this;
    if (!call) return;
    if (this.isEdited) this.decide({ type: "edit", editedAction: { name: call.tool, args: call.args } });
    else this.decide(remember ? { type: "approve", remember } : { type: "approve" });
  }

  reject(message: string): void {
    this.decide(message === "" ? { type: "reject" } : { type: "reject", message });
  }

  respond(message: string): void {
    if (this.call) this.decide({ type: "respond", message });
    else if (this.question) {
      this.ownAnswers.set(this.question.id, message);
      this.next();
    }
  }

  edit(args: Record<string, unknown>): void {
    this.edited = args;
  }

  /** The same for every call that is open and allows it; the others stay. */
  decideAll(decision: Decision): void {
    while (this.call?.allowed.includes(decision.type)) this.decide(decision);
  }

  /** Answers by the ids of their questions. */
  get answers(): Answers {
    return Object.fromEntries([
      ...[...this.decisions].map(([id, decisions]) => [id, { decisions }] as const),
      ...this.ownAnswers,
    ]);
  }

  private decide(decision: Decision): void {
    const { question } = this;
    if (!question) return;
    this.decisions.set(question.id, [...(this.decisions.get(question.id) ?? []), decision]);
    this.next();
  }

  private next(): void {
    this.edited = undefined;
    this.isAllShown = false;
    this.selected = 0;
    const { question, call } = this.at;
    const isLast = call + 1 >= (this.questions[question]?.calls.length ?? 0);
    this.at = isLast ? { question: question + 1, call: 0 } : { question, call: call + 1 };
  }
}
