/** The report and the final answer of the offline model. */
import { count } from "../terminal/amounts.ts";
import type { Facts } from "./facts.ts";

const MAX_NOTES = 15;

export function reportText(task: string, facts: Facts): string {
  const { files, kinds, longest, entryPoints, notes, headings, read, secondLook } = facts;
  const sections = [
    "# Report of the offline model",
    "This report was written by a fixed routine, not by a language model: it lists what is there.",
    section("Task", quoted(task)),
    section(
      "Workspace",
      files.length === 0
        ? "There are no files."
        : `${filesText(facts)}:\n\n${list(kinds.slice(0, 12).map(([kind, n]) => `${kind}: ${n}`))}`,
    ),
    section("Entry points", list(entryPoints)),
    section(
      "Longest files looked at",
      list(longest.map(({ path, lines }) => `${path}: ${count(lines, "line")}`)),
    ),
    section("Headings of the README", list(headings.map(indented))),
    section(`Notes in the files (${notes.length})`, notesList(facts)),
    section("Files read", list(read)),
    section("Second look by a subagent", quoted(secondLook)),
  ];
  return `${sections.filter((text) => text !== "").join("\n\n")}\n`;
}

/** The last word of a run. Without a file the report itself stands in it. */
export function answerText(facts: Facts, reportPath: string | undefined, report: string | undefined): string {
  const { files, kinds, notes } = facts;
  const top = kinds.slice(0, 3).map(([kind, amount]) => `${amount} ${kind}`);
  const found =
    files.length === 0
      ? "The workspace is empty."
      : `The workspace has ${filesText(facts)}${top.length > 0 ? ` (${top.join(", ")})` : ""} and ${count(notes.length, "TODO or FIXME note")}.`;
  const where =
    reportPath !== undefined
      ? ` What I found is in ${reportPath}.`
      : report === undefined
        ? ""
        : " What I found stands below; for a file, name one in the task, such as report.md.";
  return [
    "I am the offline model, not an LLM: I looked around with the tools but could not do the task itself.",
    `${found}${where}`,
    "For a real answer store a key with `deepwright login`, or start Ollama.",
    ...(report === undefined ? [] : [report.trimEnd()]),
  ].join("\n\n");
}

function filesText({ files, isPartial }: Facts): string {
  return `${isPartial ? "at least " : ""}${count(files.length, "file")}`;
}

function section(title: string, body: string): string {
  return body === "" ? "" : `## ${title}\n\n${body}`;
}

function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join("\n");
}

function quoted(text: string): string {
  const shown = text.slice(0, 2_000).trim();
  return shown === ""
    ? ""
    : shown
        .split("\n")
        .map((line) => `> ${line}`)
        .join("\n");
}

/** `## Use` as `Use`, further in by its depth. */
function indented(heading: string): string {
  const [, marks = "", title = ""] = /^(#+) +(.*)$/.exec(heading) ?? [];
  return `${"\u2003".repeat(Math.max(marks.length - 1, 0))}${title}`;
}

function notesList({ notes }: Facts): string {
  const shown = notes
    .slice(0, MAX_NOTES)
    .map(({ path, line, text }) => `${path}:${line}: ${text.trim().slice(0, 160)}`);
  const more = notes.length > MAX_NOTES ? [`and ${notes.length - MAX_NOTES} more`] : [];
  return list([...shown, ...more]);
}
