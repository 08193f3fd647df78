/** Puts each call to the person at the terminal. */
import { isDeepStrictEqual } from "node:util";
import type { Person } from "../terminal/confirm.ts";
import type { Console } from "../terminal/console.ts";
import { paged } from "../terminal/pager.ts";
import { Prompt } from "../terminal/prompt.ts";
import { revealedJson, revealedLine, revealedLines, wrapped } from "../terminal/revealed-text.ts";
import { callLines, isCut, type ViewOptions } from "./call-view.ts";
import { editedArguments } from "./edit-arguments.ts";
import type { Answers, CallQuestion, Decision, Question } from "./question.ts";

export interface Asking {
  readonly console: Console;
  readonly person: Person;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly controlPaths?: readonly string[];
}

/** Throws PersonLeft when the person leaves it open: then nothing is answered. */
export async function askPerson(questions: readonly Question[], asking: Asking): Promise<Answers> {
  const interview = new Interview(asking);
  const answers: Record<string, unknown> = {};
  for (const question of questions) answers[question.id] = await interview.answer(question);
  return answers;
}

/** A call in the hands of the person who decides about it. */
interface Draft {
  readonly call: CallQuestion;
  /** The arguments as the agent gave them. */
  readonly original: Record<string, unknown>;
}

class Interview {
  private readonly prompt: Prompt;
  private readonly asking: Asking;

  constructor(asking: Asking) {
    this.asking = asking;
    this.prompt = new Prompt(asking.person, asking.signal);
  }

  async answer(question: Question): Promise<unknown> {
    if (question.problem !== undefined)
      this.say(this.asking.console.colours.red(`The answer was not accepted: ${oneLine(question.problem)}`));
    if (question.calls.length === 0) return this.ownQuestion(question);
    const decisions: Decision[] = [];
    for (const [i, call] of question.calls.entries()) decisions.push(await this.decision(question, call, i));
    return { decisions };
  }

  private async decision({ agentPath, calls }: Question, call: CallQuestion, i: number): Promise<Decision> {
    const { colours } = this.asking.console;
    const place = calls.length > 1 ? ` (${i + 1} of ${calls.length})` : "";
    let draft: Draft = { call, original: call.args };
    for (let isNew = true; ; ) {
      if (isNew) {
        this.say(
          colours.bold(
            `? ${oneLine(call.tool)}${byWhom(agentPath)}${place}${isEdited(draft) ? ", edited" : ""}`,
          ),
        );
        for (const line of callLines(draft.call, this.view())) this.say(line);
      }
      for (const row of this.menu(draft)) this.say(row);
      const key = (await this.prompt.freshLine("decision: ")).trim().toLowerCase();
      const done = await this.act(key, draft);
      if ("type" in done) return done;
      isNew = done.draft !== draft;
      draft = done.draft;
    }
  }

  /** The decision a key stands for, or the call to ask about again. */
  private async act(key: string, draft: Draft): Promise<Decision | { readonly draft: Draft }> {
    const { call } = draft;
    const may = new Set(call.allowed);
    if (/^y(es)?$/.test(key) && may.has(isEdited(draft) ? "edit" : "approve")) return approval(draft);
    if (key === "a" && may.has("approve") && !isEdited(draft)) return { type: "approve", remember: "thread" };
    if (/^no?$/.test(key) && may.has("reject")) {
      const message = (await this.prompt.line("reason (Enter: none): ")).trim();
      return message === "" ? { type: "reject" } : { type: "reject", message };
    }
    if (key === "r" && may.has("respond"))
      return { type: "respond", message: await this.prompt.line("its result: ") };
    if (key === "e" && may.has("edit")) return { draft: await this.edited(draft) };
    if (key === "v") await this.showAll(call);
    return { draft };
  }

  private async edited(draft: Draft): Promise<Draft> {
    const result = await editedArguments(draft.call.args, this.prompt, this.asking.environment);
    if ("args" in result) return { ...draft, call: { ...draft.call, args: result.args } };
    this.say(this.asking.console.colours.red(result.problem));
    return draft;
  }

  private async showAll(call: CallQuestion): Promise<void> {
    const lines = callLines(call, { ...this.view(), full: true });
    await paged(lines, this.asking.person.stderr.rows ?? 24, (line) => this.say(line), this.prompt);
  }

  private menu(draft: Draft): readonly string[] {
    const may = new Set(draft.call.allowed);
    const approves = may.has(isEdited(draft) ? "edit" : "approve");
    const keys = [
      approves ? "y yes" : "",
      may.has("approve") && !isEdited(draft) ? "a always exactly this call, in this thread" : "",
      may.has("reject") ? "n no" : "",
      may.has("edit") ? "e edit" : "",
      may.has("respond") ? "r give its result" : "",
      isCut(draft.call, this.view()) ? "v view all" : "",
      "Ctrl-C later",
    ];
    return rowsOf(keys.filter(Boolean), this.asking.console.width);
  }

  /** A tool that asks by itself gets a text. */
  private async ownQuestion({ value, agentPath }: Question): Promise<unknown> {
    const text =
      typeof value === "string" ? value : revealedJson(JSON.stringify(value, undefined, 2) ?? "null");
    this.say(this.asking.console.colours.bold(`? A question${byWhom(agentPath)}`));
    for (const line of revealedLines(text))
      for (const row of wrapped(line, this.asking.console.width - 4)) this.say(`  │ ${row}`);
    for (;;) {
      const answer = await this.prompt.freshLine("answer: ");
      if (answer !== "") return answer;
    }
  }

  private view(): ViewOptions {
    const { console, controlPaths = [] } = this.asking;
    return { width: console.width, colours: console.colours, full: false, controlPaths };
  }

  private say(line: string): void {
    this.asking.console.line(line);
  }
}

/** As many words to a row as fit. */
function rowsOf(words: readonly string[], width: number): readonly string[] {
  const rows: string[] = [];
  for (const word of words) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + word.length + 3 <= width)
      rows[rows.length - 1] = `${last} · ${word}`;
    else rows.push(`  ${word}`);
  }
  return rows;
}

function byWhom(agentPath: readonly string[]): string {
  return agentPath.length > 0 ? ` by ${agentPath.map(oneLine).join(" › ")}` : "";
}

function isEdited({ call, original }: Draft): boolean {
  return !isDeepStrictEqual(call.args, original);
}

function approval(draft: Draft): Decision {
  if (!isEdited(draft)) return { type: "approve" };
  return { type: "edit", editedAction: { name: draft.call.tool, args: draft.call.args } };
}

function oneLine(text: string): string {
  return revealedLine(text.replaceAll("\n", " "));
}
