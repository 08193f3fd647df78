/** Forks beside each other, as lines of text. */
import type { ComparedThread } from "@deepwright/checkpoint";
import { count, grouped, seconds } from "../terminal/amounts.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { tableLines } from "../terminal/table.ts";
import { shortId } from "../threads/lines.ts";

const MOST_ANSWER = 60;

export function comparedLines(compared: readonly ComparedThread[]): string[] {
  const columns = [
    { heading: "THREAD" },
    { heading: "MODEL" },
    { heading: "END" },
    { heading: "CHECK" },
    { heading: "FILES", isNumber: true },
    { heading: "LINES" },
    { heading: "TOKENS", isNumber: true },
    { heading: "COST", isNumber: true },
    { heading: "TIME", isNumber: true },
    { heading: "ANSWER" },
  ];
  return tableLines(columns, compared.map(rowOf));
}

function rowOf(thread: ComparedThread): string[] {
  const { threadId, model, end, check, changes, cost, answer } = thread;
  const { inputTokens, outputTokens } = thread;
  const isCounted = inputTokens !== undefined || outputTokens !== undefined;
  return [
    shortId(threadId),
    safeLine(model ?? "", 40),
    safeLine(end ?? "", 20),
    check === undefined ? "" : check.exitCode === 0 ? "passes" : `fails (${check.exitCode ?? "?"})`,
    String(changes.length),
    linesText(thread),
    isCounted ? grouped((inputTokens ?? 0) + (outputTokens ?? 0)) : "",
    cost === undefined ? "" : `$${cost.toFixed(cost < 1 ? 4 : 2)}`,
    thread.seconds === undefined ? "" : seconds(thread.seconds * 1000),
    safeLine(answer, MOST_ANSWER),
  ];
}

/** `+3 -1`, of the texts that have a diff. */
function linesText({ changes }: ComparedThread): string {
  const lines = changes.flatMap(({ patch }) => patch?.split("\n") ?? []);
  const added = lines.filter((line) => line.startsWith("+") && !line.startsWith("+++")).length;
  const removed = lines.filter((line) => line.startsWith("-") && !line.startsWith("---")).length;
  return added + removed === 0 ? "" : `+${added} -${removed}`;
}

/** Changes that cannot be adopted. */
export function notAdoptedLines(compared: readonly ComparedThread[]): string[] {
  return compared.flatMap(({ threadId, notCovered }) =>
    notCovered.length === 0
      ? []
      : [
          `${shortId(threadId)}: ${count(notCovered.length, "change")} cannot be adopted:`,
          ...notCovered
            .slice(0, 5)
            .map(({ path, command, reason }) => `  ${safeLine(path ?? `$ ${command ?? ""}`)}: ${reason}`),
        ],
  );
}

/** The cheapest of those that pass the check, then the fastest. */
export function bestOf(compared: readonly ComparedThread[]): ComparedThread | undefined {
  const passing = compared.filter(({ check }) => check?.exitCode === 0);
  const price = ({ cost, inputTokens = 0, outputTokens = 0 }: ComparedThread): number =>
    passing.every((one) => one.cost !== undefined) ? (cost ?? 0) : inputTokens + outputTokens;
  return [...passing].sort(
    (one, other) => price(one) - price(other) || (one.seconds ?? 0) - (other.seconds ?? 0),
  )[0];
}
