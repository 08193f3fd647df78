/** Puts the open calls to the person: details go to the scrollback, the menu stands in the live region. */
import { matchesKey } from "@earendil-works/pi-tui";
import { type CallQuestion, type Question, questionsOf } from "../../approval/question.ts";
import { callLine } from "../../run/output/tool-lines.ts";
import type { Colours } from "../../terminal/console.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import { ApprovalPanel, type Choice } from "../approvals/approval-panel.ts";
import { choiceRows, ownQuestionRows, questionRows } from "../approvals/approval-rows.ts";
import { approveAs } from "../approvals/approve-as.ts";
import { prefixOf } from "../approvals/command-prefix.ts";
import type { Session } from "../session/session.ts";
import type { CallContext } from "../view/call-rows.ts";
import type { Theme } from "../view/theme.ts";
import type { Panel } from "./panel.ts";

export interface AskHost {
  readonly session: Session;
  readonly theme: Theme;
  readonly colours: Colours;
  readonly context: CallContext;
  note(rows: (width: number) => readonly string[]): void;
  /** Asks for a text in the editor; undefined: the person went back. */
  askText(label: string, initial?: string): Promise<string | undefined>;
  /** Hands the place back to the editor. */
  leave(): void;
  changed(): void;
}

/** A key that was pressed before the person could see the question is no answer to it. */
const TYPED_AHEAD_MS = 300;

export class AskPanel implements Panel {
  readonly isQuestion = true;
  private readonly panel: ApprovalPanel;
  private isAlways = false;
  private isTyping = false;
  private shownAt = Date.now();

  constructor(private readonly host: AskHost) {
    const { session } = host;
    this.panel = new ApprovalPanel(
      questionsOf(session.screen.interrupts),
      session.threadId,
      prefixOf,
      session.place.rules,
    );
    this.show();
  }

  rows(width: number): readonly string[] {
    const { panel, isAlways, host } = this;
    const { call } = panel;
    // The call stands above, and its first line may be out of sight.
    const one = call ? `Run this? ${callLine(call.tool, call.args, width - 12)}` : "Your answer?";
    const title = panel.isAllShown ? `Run these ${panel.open} calls?` : one;
    const onEscape = isAlways ? "Esc goes back" : "Esc decides later · Shift-Tab changes the mode";
    return choiceRows(panel.choices(isAlways), panel.selected, host.theme, { title, onEscape });
  }

  handle(data: string): void {
    const choices = this.panel.choices(this.isAlways);
    const { panel } = this;
    if (this.isTyping || Date.now() - this.shownAt < TYPED_AHEAD_MS) return;
    if (matchesKey(data, "up")) panel.selected = (panel.selected + choices.length - 1) % choices.length;
    else if (matchesKey(data, "down")) panel.selected = (panel.selected + 1) % choices.length;
    else if (matchesKey(data, "escape")) this.back();
    else {
      const chosen = matchesKey(data, "enter")
        ? choices[panel.selected]
        : choices.find(({ key }) => key === data);
      if (chosen) void this.act(chosen);
    }
  }

  private back(): void {
    if (this.isAlways) this.isAlways = false;
    else this.host.leave();
  }

  private async act(choice: Choice): Promise<void> {
    const { panel } = this;
    this.isAlways = false;
    this.shownAt = 0;
    if (choice.act === "always") this.isAlways = true;
    else if (choice.act === "approve") await approveAs(panel, choice, this.host.session);
    else if (choice.act === "approve-all" && !panel.isAllShown) return this.showRest();
    else if (choice.act === "approve-all") panel.decideAll({ type: "approve" });
    else if (choice.act === "reject-all") panel.decideAll({ type: "reject" });
    else if (choice.act === "one-by-one") panel.isAllShown = false;
    else if (choice.act === "view") return this.show(true);
    else if (!(await this.typed(choice))) return this.host.changed();
    if (panel.isDone) return this.finish();
    if (choice.act !== "always") this.show();
    panel.selected = 0;
    this.host.changed();
  }

  /** Choices that need a text; false: the person went back. */
  private async typed({ act }: Choice): Promise<boolean> {
    const { panel, host } = this;
    this.isTyping = true;
    const json = act === "edit" ? JSON.stringify(panel.call?.args ?? {}, undefined, 2) : "";
    let text = await host.askText(LABELS[act] ?? "", json);
    while (act === "edit" && text !== undefined && !this.edit(text))
      text = await host.askText(LABELS.edit ?? "", text);
    this.isTyping = false;
    if (text === undefined) return false;
    if (act === "reject") panel.reject(text.trim());
    else if (act !== "edit") panel.respond(text);
    return true;
  }

  /** False: these are no arguments, and the person can correct them. */
  private edit(text: string): boolean {
    try {
      const args: unknown = JSON.parse(text);
      if (typeof args !== "object" || args === null || Array.isArray(args))
        throw new Error("it must be an object, { … }");
      this.panel.edit(args as Record<string, unknown>);
      return true;
    } catch (error) {
      const words = safeLine((error as Error).message, 200);
      this.host.note(() => [this.host.theme.bad(`This is not valid JSON: ${words}`)]);
      return false;
    }
  }

  private finish(): void {
    this.host.leave();
    void this.host.session.answer(this.panel.answers);
  }

  /** Writes the call that is asked about into the scrollback. */
  private show(isFull = false): void {
    const { question, call } = this.panel;
    if (question) this.write(question, call, 0, isFull);
  }

  /** Nothing is approved that was not shown. */
  private showRest(): void {
    const { panel } = this;
    panel.rest.forEach(({ question, call }, i) => {
      this.write(question, call, i + 1, false);
    });
    panel.isAllShown = true;
    panel.selected = 0;
    this.shownAt = Date.now();
  }

  private write(question: Question, call: CallQuestion | undefined, ahead: number, isFull: boolean): void {
    const { panel, host } = this;
    const { total, open } = panel;
    const isEdited = panel.isEdited && ahead === 0;
    const place = total > 1 ? ` (${total - open + 1 + ahead} of ${total})` : "";
    const controlPaths = host.session.place.local?.controlPaths ?? [];
    const view = { place, isEdited, isFull, controlPaths, colours: host.colours };
    host.note((width) =>
      call
        ? questionRows(question, call, width, host.context, view)
        : ownQuestionRows(question, width, host.theme),
    );
    host.changed();
  }
}

const LABELS: Readonly<Partial<Record<Choice["act"], string>>> = {
  reject: "Why not? Enter says no, with or without a reason · Esc goes back",
  edit: "Its arguments (JSON): Enter shows the call again, Esc goes back",
  respond: "The result that the agent gets instead · Esc goes back",
  answer: "Your answer",
};
