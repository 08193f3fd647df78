/** Rows of a question about a call, for the scrollback, and of its menu, for the live region. */
import { callLines } from "../../approval/call-view.ts";
import type { CallQuestion, Question } from "../../approval/question.ts";
import type { Colours } from "../../terminal/console.ts";
import { revealedJson, revealedLine, revealedLines, wrapped } from "../../terminal/revealed-text.ts";
import type { CallContext } from "../view/call-rows.ts";
import type { Theme } from "../view/theme.ts";
import type { Choice } from "./approval-panel.ts";

export interface QuestionView {
  readonly place: string;
  readonly isEdited: boolean;
  readonly isFull: boolean;
  readonly controlPaths: readonly string[];
  readonly colours: Colours;
}

/** The call as it will run: its arguments, what is odd about them, and the change to a file with line numbers. */
export function questionRows(
  { agentPath, problem }: Question,
  call: CallQuestion,
  width: number,
  context: CallContext,
  view: QuestionView,
): readonly string[] {
  const { theme } = context;
  const by =
    agentPath.length > 0
      ? ` by ${agentPath.map((name) => revealedLine(name.replaceAll("\n", " "))).join(" › ")}`
      : "";
  const name = revealedLine(call.tool.replaceAll("\n", " "));
  const lines = callLines(call, {
    width,
    colours: view.colours,
    full: view.isFull,
    controlPaths: view.controlPaths,
  });
  const start = startLine(call, context);
  return [
    ...(problem === undefined
      ? []
      : [theme.bad(`That was not accepted: ${revealedLine(problem.replaceAll("\n", " "))}`)]),
    theme.warning(`? ${theme.bold(name)}${by}${view.place}${view.isEdited ? ", as you changed it" : ""}`),
    ...(start === undefined ? [] : [theme.dim(`  at line ${start}`)]),
    ...lines,
  ];
}

/** The line of the file where the text of an edit stands. */
function startLine({ tool, args }: CallQuestion, { lineOf }: CallContext): number | undefined {
  if (tool !== "edit_file" || typeof args.old_string !== "string") return undefined;
  return lineOf(String(args.file_path), args.old_string);
}

/** A tool that asks something of its own. */
export function ownQuestionRows({ value }: Question, width: number, theme: Theme): readonly string[] {
  const text =
    typeof value === "string" ? value : revealedJson(JSON.stringify(value, undefined, 2) ?? "null");
  return [
    theme.warning("? The agent asks:"),
    ...revealedLines(text).flatMap((line) => wrapped(line, width - 4).map((row) => `  │ ${row}`)),
  ];
}

export function choiceRows(
  choices: readonly Choice[],
  selected: number,
  theme: Theme,
  { title, onEscape }: { readonly title: string; readonly onEscape: string },
): readonly string[] {
  return [
    theme.warning(title),
    ...choices.map(({ key, label }, i) =>
      i === selected ? theme.accent(`❯ ${key}  ${label}`) : `  ${theme.bold(key)}  ${label}`,
    ),
    theme.dim(`  ↑↓ Enter, or the key in front · ${onEscape}`),
  ];
}
