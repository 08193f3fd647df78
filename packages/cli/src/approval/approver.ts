/** Answers calls that need approval: by a person, by an option of the command, or by denying them. */
import type { Person } from "../terminal/confirm.ts";
import type { Console } from "../terminal/console.ts";
import { PersonLeft } from "../terminal/prompt.ts";
import { type Answers, type Decision, type Question, questionsOf } from "./question.ts";

/** How questions are settled: `ask` a person, `approve` or `deny` them all, or let the thread `wait`. */
export type ApprovalMode = "ask" | "approve" | "deny" | "wait";

/** A call that did not run because nobody was there to approve it. */
export interface DeniedCall {
  readonly tool: string;
  readonly agentPath: readonly string[];
}

export type Reply =
  | { readonly kind: "answers"; readonly answers: Answers }
  /** The thread waits on; `left` when the person at the terminal wanted it so. */
  | { readonly kind: "waits"; readonly left: boolean };

export interface Surroundings {
  readonly console: Console;
  readonly person: Person;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Files of the directory that steer other programs: a person is warned of them. */
  readonly controlPaths?: readonly string[];
}

export interface ApproverOptions {
  readonly mode: ApprovalMode;
  /** The answer to what is open when the run begins; absent: as the mode says. */
  readonly first?: Decision | undefined;
}

export class Approver {
  /** In the order they were denied. */
  readonly denied: DeniedCall[] = [];
  private first: Decision | undefined;

  constructor(
    private readonly options: ApproverOptions,
    private readonly around: Surroundings,
  ) {
    this.first = options.first;
  }

  /**
   * `interrupts` as the library reports them; at least one. What was open before the run began is not denied for want
   * of a person: somebody meant it to wait.
   */
  async reply(interrupts: readonly unknown[], wasOpen = false): Promise<Reply> {
    const questions = questionsOf(interrupts);
    const { first } = this;
    this.first = undefined;
    if (first !== undefined) return all(questions, first);
    if (this.options.mode === "ask") return this.fromPerson(questions);
    if (this.options.mode === "approve") return all(questions, { type: "approve" });
    return this.options.mode === "deny" && !wasOpen ? this.deny(questions) : WAITS;
  }

  private async fromPerson(questions: readonly Question[]): Promise<Reply> {
    const { askPerson } = await import("./ask-person.ts");
    this.around.console.endText();
    try {
      return { kind: "answers", answers: await askPerson(questions, this.around) };
    } catch (error) {
      if (error instanceof PersonLeft) return { kind: "waits", left: true };
      throw error;
    }
  }

  private deny(questions: readonly Question[]): Reply {
    const reply = all(questions, { type: "reject", message: NOBODY, unattended: true });
    if (reply.kind === "answers")
      for (const { calls, agentPath } of questions)
        this.denied.push(...calls.map(({ tool }) => ({ tool, agentPath })));
    return reply;
  }
}

const WAITS: Reply = { kind: "waits", left: false };

/** Text for the model. */
const NOBODY =
  "do not try to reach the same in another way. Go on without it, and say in your answer what was not done.";

/**
 * The same for every call. What cannot be answered so stays open: a question of a tool's own, a call that does not
 * allow it, an answer that was refused before.
 */
function all(questions: readonly Question[], decision: Decision): Reply {
  const fits = questions.every(
    ({ calls, problem }) =>
      calls.length > 0 &&
      problem === undefined &&
      calls.every(({ allowed }) => allowed.includes(decision.type)),
  );
  if (!fits) return WAITS;
  const answers = questions.map(({ id, calls }) => [id, { decisions: calls.map(() => decision) }] as const);
  return { kind: "answers", answers: Object.fromEntries(answers) };
}

/** Whether a person sits here who can be asked. */
export function isAttended({ stdin, stderr }: Person, { CI }: NodeJS.ProcessEnv): boolean {
  const isAutomation = CI !== undefined && CI !== "" && CI !== "0" && CI !== "false";
  return stdin.isTTY === true && stderr.isTTY === true && !isAutomation;
}
