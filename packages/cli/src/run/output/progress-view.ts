/** Shows a run to a person: the answer on stdout as it is streamed, the work of the agent on stderr. */
import type { AIMessage, ToolMessage } from "@langchain/core/messages";
import type { Console } from "../../terminal/console.ts";
import { safeLine, safeText } from "../../terminal/safe-text.ts";
import {
  agentNameOf,
  depthOf,
  isAi,
  isTool,
  messagesOf,
  runOf,
  type StreamPart,
  tokenOf,
  updatesOf,
} from "../stream-part.ts";
import { callLine, resultLine, todoLines } from "./tool-lines.ts";

/** How much is shown beside the answer: nothing, the acts, the acts in full. */
export type Detail = "quiet" | "normal" | "verbose";

const MAX_VERBOSE_LINES = 40;

export class ProgressView {
  private readonly console: Console;
  private readonly detail: Detail;
  /** The id of the message that is being streamed, and whether this turn has shown text. */
  private speaking: string | undefined;
  private spoke = false;
  /** Names of calls without a result, by id. */
  private readonly open = new Map<string, string>();
  /** Whether results need a name because several calls run at once. */
  private several = false;
  private shownTodos = "";
  /** Display names of subagent runs, by run; equal names are numbered. */
  private readonly names = new Map<string, string>();

  constructor(console: Console, detail: Detail) {
    this.console = console;
    this.detail = detail;
  }

  take(part: StreamPart): void {
    const token = tokenOf(part);
    this.learnName(part);
    const place: Place = { depth: depthOf(part), name: this.names.get(runOf(part)) };
    if (token && place.depth === 0) this.piece(token.id, token.text);
    for (const update of updatesOf(part)) {
      for (const message of messagesOf(update)) {
        if (isAi(message)) this.turn(message, place);
        else if (isTool(message)) this.result(message, place);
      }
      if ("todos" in update && place.depth === 0) this.todos(update.todos);
    }
  }

  private learnName(part: StreamPart): void {
    const name = agentNameOf(part);
    const run = runOf(part);
    if (name === undefined || this.names.has(run)) return;
    const shown = safeLine(name, 30);
    const same = [...this.names.values()].filter((label) => label.replace(/ \d+$/, "") === shown).length;
    this.names.set(run, same === 0 ? shown : `${shown} ${same + 1}`);
  }

  /** A new id in the middle of a turn means that the reply broke off and was asked for again. */
  private piece(id: string | undefined, text: string): void {
    if (text === "") return;
    if (this.spoke && id !== this.speaking) this.console.endText();
    this.speaking = id;
    this.spoke = true;
    this.console.text(text);
  }

  /** Prints the parts of a whole reply that were not streamed, and its tool calls. */
  private turn(message: AIMessage, place: Place): void {
    if (place.depth === 0) {
      if (!this.spoke && message.text !== "") this.console.text(message.text);
      this.console.endText();
      this.spoke = false;
    }
    const calls = message.tool_calls ?? [];
    this.several = this.open.size + calls.filter(({ name }) => name !== "write_todos").length > 1;
    for (const { id, name, args } of calls) {
      this.open.set(id ?? "", name);
      if (name !== "write_todos") this.show(place, `● ${this.callWords(name, args, indent(place))}`);
    }
  }

  private callWords(name: string, args: unknown, { length }: string): string {
    const { colours, width } = this.console;
    if (this.detail === "verbose") return safeLine(`${name} ${JSON.stringify(args)}`, 2_000);
    const words = callLine(name, args, width - 4 - length);
    return `${colours.bold(words.slice(0, name.length))}${words.slice(name.length)}`;
  }

  private result(message: ToolMessage, place: Place): void {
    const { colours, width } = this.console;
    const name = this.open.get(message.tool_call_id) ?? message.name ?? "";
    this.open.delete(message.tool_call_id);
    const failed = message.status === "error";
    if (name === "write_todos" && !failed) return;
    const label = this.several ? `${safeLine(name, 30)}: ` : "";
    const line = `  ${label}${resultLine(message.text, width - 6 - label.length - indent(place).length)}`;
    this.show(place, failed ? colours.red(line) : colours.dim(line));
    if (this.detail === "verbose") this.rest(message.text, place);
  }

  /** The lines after the first. */
  private rest(text: string, place: Place): void {
    const lines = safeText(text).trimEnd().split("\n").slice(1);
    for (const line of lines.slice(0, MAX_VERBOSE_LINES))
      this.show(place, this.console.colours.dim(`    ${line}`));
    if (lines.length > MAX_VERBOSE_LINES) this.show(place, `    … ${lines.length - MAX_VERBOSE_LINES} more`);
  }

  private todos(todos: unknown): void {
    const lines = todoLines(todos, this.console.width - 4);
    const text = lines.join("\n");
    if (text === this.shownTodos) return;
    this.shownTodos = text;
    for (const line of lines)
      this.show(TOP, `  ${line.startsWith("☑") ? this.console.colours.dim(line) : line}`);
  }

  private show(place: Place, line: string): void {
    if (this.detail !== "quiet") this.console.line(`${this.console.colours.dim(indent(place))}${line}`);
  }
}

/** The agent that a line belongs to. */
interface Place {
  readonly depth: number;
  /** The subagent's name, once it is known. */
  readonly name: string | undefined;
}

const TOP: Place = { depth: 0, name: undefined };

/** `  researcher │ ` before the lines of a subagent. */
function indent({ depth, name }: Place): string {
  return `${"  ".repeat(depth)}${depth > 0 && name !== undefined ? `${name} │ ` : ""}`;
}
