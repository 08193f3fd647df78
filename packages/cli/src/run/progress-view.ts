/** Shows a run to a person: the answer on stdout as it comes, what the agent does on stderr. */
import type { AIMessage, ToolMessage } from "@langchain/core/messages";
import type { Console } from "../terminal/console.ts";
import { safeLine, safeText } from "../terminal/safe-text.ts";
import { depthOf, isAi, isTool, messagesOf, type StreamPart, tokenOf, updatesOf } from "./stream-part.ts";
import { callLine, resultLine, todoLines } from "./tool-lines.ts";

/** How much is shown beside the answer: nothing, the acts, the acts in full. */
export type Detail = "quiet" | "normal" | "verbose";

const MAX_VERBOSE_LINES = 40;

export class ProgressView {
  private readonly console: Console;
  private readonly detail: Detail;
  /** The message whose pieces were last written, and whether any text of this turn was. */
  private speaking: string | undefined;
  private spoke = false;
  /** Names of calls without a result, by id. */
  private readonly open = new Map<string, string>();
  /** Whether results need a name to be told apart. */
  private several = false;
  private shownTodos = "";

  constructor(console: Console, detail: Detail) {
    this.console = console;
    this.detail = detail;
  }

  take(part: StreamPart): void {
    const token = tokenOf(part);
    if (token && depthOf(part) === 0) this.piece(token.id, token.text);
    for (const update of updatesOf(part)) {
      for (const message of messagesOf(update)) {
        if (isAi(message)) this.turn(message, depthOf(part));
        else if (isTool(message)) this.result(message, depthOf(part));
      }
      if ("todos" in update && depthOf(part) === 0) this.todos(update.todos);
    }
  }

  /** A new id in the middle of a turn means that the reply broke off and was asked for again. */
  private piece(id: string | undefined, text: string): void {
    if (text === "") return;
    if (this.spoke && id !== this.speaking) this.console.endText();
    this.speaking = id;
    this.spoke = true;
    this.console.text(text);
  }

  /** The whole reply: says what was not streamed, and which tools are called. */
  private turn(message: AIMessage, depth: number): void {
    if (depth === 0) {
      if (!this.spoke && message.text !== "") this.console.text(message.text);
      this.console.endText();
      this.spoke = false;
    }
    const calls = message.tool_calls ?? [];
    this.several = this.open.size + calls.filter(({ name }) => name !== "write_todos").length > 1;
    for (const { id, name, args } of calls) {
      this.open.set(id ?? "", name);
      if (name !== "write_todos") this.show(depth, `● ${this.callWords(name, args)}`);
    }
  }

  private callWords(name: string, args: unknown): string {
    const { colours, width } = this.console;
    if (this.detail === "verbose") return safeLine(`${name} ${JSON.stringify(args)}`, 2_000);
    const words = callLine(name, args, width - 4);
    return `${colours.bold(words.slice(0, name.length))}${words.slice(name.length)}`;
  }

  private result(message: ToolMessage, depth: number): void {
    const { colours, width } = this.console;
    const name = this.open.get(message.tool_call_id) ?? message.name ?? "";
    this.open.delete(message.tool_call_id);
    const failed = message.status === "error";
    if (name === "write_todos" && !failed) return;
    const label = this.several ? `${safeLine(name, 30)}: ` : "";
    const line = `  ${label}${resultLine(message.text, width - 6 - label.length)}`;
    this.show(depth, failed ? colours.red(line) : colours.dim(line));
    if (this.detail === "verbose") this.rest(message.text, depth);
  }

  /** The lines after the first. */
  private rest(text: string, depth: number): void {
    const lines = safeText(text).trimEnd().split("\n").slice(1);
    for (const line of lines.slice(0, MAX_VERBOSE_LINES))
      this.show(depth, this.console.colours.dim(`    ${line}`));
    if (lines.length > MAX_VERBOSE_LINES) this.show(depth, `    … ${lines.length - MAX_VERBOSE_LINES} more`);
  }

  private todos(todos: unknown): void {
    const lines = todoLines(todos, this.console.width - 4);
    const text = lines.join("\n");
    if (text === this.shownTodos) return;
    this.shownTodos = text;
    for (const line of lines)
      this.show(0, `  ${line.startsWith("☑") ? this.console.colours.dim(line) : line}`);
  }

  private show(depth: number, line: string): void {
    if (this.detail !== "quiet") this.console.line(`${"  ".repeat(depth)}${line}`);
  }
}
