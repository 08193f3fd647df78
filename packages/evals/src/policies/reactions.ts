/** How a scripted model understands what a harness answers. It uses words of the answer and nothing else. */
import { type Action, type WireAction, wireOf } from "./plan.ts";

/** The next attempt after a failure; undefined when the answer has no advice that can be followed. */
export function followAdvice(action: Action, last: WireAction, answer: string): WireAction[] | undefined {
  const right = wireOf(action);
  return (
    renamedTool(right, last, answer) ??
    wellFormed(right, last, answer) ??
    renamedArguments(right, last, answer) ??
    listedValue(right, last, answer) ??
    withoutNumbers(right, last, answer) ??
    suggestedPath(last, answer) ??
    quotedLines(last, answer)
  );
}

/** The answer lists the tools that exist, or names the right one. */
function renamedTool(right: WireAction, last: WireAction, answer: string): WireAction[] | undefined {
  if (last.name === right.name) return undefined;
  return mentions(answer, right.name) ? [{ ...last, name: right.name }] : undefined;
}

function wellFormed(right: WireAction, last: WireAction, answer: string): WireAction[] | undefined {
  if (last.raw === undefined) return undefined;
  return /json|pars|malformed|argument/i.test(answer) ? [right] : undefined;
}

/** The answer names an argument that is missing, or one of the wrong type. */
function renamedArguments(right: WireAction, last: WireAction, answer: string): WireAction[] | undefined {
  if (last.name !== right.name) return undefined;
  const wrong = Object.keys(right.args).filter(
    (name) => !(name in last.args) || typeof last.args[name] !== typeof right.args[name],
  );
  const named = wrong.filter((name) => mentions(answer, name));
  if (named.length === 0) return undefined;
  const fixed: Record<string, unknown> = { ...last.args };
  for (const name of Object.keys(last.args)) if (!(name in right.args)) delete fixed[name];
  for (const name of Object.keys(right.args)) if (named.includes(name)) fixed[name] = right.args[name];
  return [{ name: right.name, args: fixed }];
}

/** The answer lists the values that an argument may have. */
function listedValue(right: WireAction, last: WireAction, answer: string): WireAction[] | undefined {
  if (last.name !== right.name) return undefined;
  const named = Object.entries(right.args).filter(
    ([key, value]) =>
      typeof value === "string" && value !== last.args[key] && SHORT.test(value) && mentions(answer, value),
  );
  return named.length === 0 ? undefined : [{ ...last, args: { ...last.args, ...Object.fromEntries(named) } }];
}

const SHORT = /^[\w-]{3,40}$/;

/** "Leave line numbers out of old_string." */
function withoutNumbers(right: WireAction, last: WireAction, answer: string): WireAction[] | undefined {
  const isEdit = last.name === "edit_file" && /^\s*\d+[│|\t:]/.test(String(last.args.old_string));
  return isEdit && /line numbers?/i.test(answer) ? [right] : undefined;
}

/** "Did you mean '/src/a.ts'?" or the like. */
function suggestedPath(last: WireAction, answer: string): WireAction[] | undefined {
  const [, path] = /(?:did you mean|similar|there is)[^'"`/]*['"`]?(\/[^\s'"`,?]+)/i.exec(answer) ?? [];
  const before = last.args.file_path;
  if (path === undefined || path === before) return undefined;
  return [{ name: last.name, args: { ...last.args, file_path: path } }];
}

/** The answer quotes the lines of the file between fences; they replace the text that was not found. */
function quotedLines(last: WireAction, answer: string): WireAction[] | undefined {
  if (last.name !== "edit_file") return undefined;
  const [, lines] = /```\n([\s\S]*?)\n```/.exec(answer) ?? [];
  if (lines === undefined || lines === last.args.old_string) return undefined;
  return [{ name: last.name, args: { ...last.args, old_string: lines } }];
}

/** The answer tells the model to look at the file again. */
export function tellsToRead(answer: string): boolean {
  return /read (the file|it)\b|re-?read|changed (since|in between|meanwhile)|has changed|line \d+ is similar/i.test(
    answer,
  );
}

/** The answer or a reminder says that the same thing was done before. */
export function tellsToMoveOn(answer: string): boolean {
  return /round in circles|same (call|arguments|result)|already (read|did|done|called)|repeat/i.test(answer);
}

function mentions(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w])`).test(text);
}
