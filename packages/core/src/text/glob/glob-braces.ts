/** Alternatives a pattern may stand for in all: more are refused rather than made. */
export const MAX_ALTERNATIVES = 256;

/**
 * The patterns for all `{a,b}` groups, nested ones too; undefined when there are too many. Braces without a comma,
 * without a partner or after a backslash are ordinary characters.
 */
export function expandBraces(pattern: string): string[] | undefined {
  const done: string[] = [];
  const open: { readonly text: string; readonly from: number }[] = [{ text: pattern, from: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = firstGroup(next.text, next.from);
    if (group === undefined) done.push(next.text);
    else
      for (const choice of group.choices.reverse())
        open.push({
          text: next.text.slice(0, group.start) + choice + next.text.slice(group.end),
          from: group.start,
        });
    if (done.length + open.length > MAX_ALTERNATIVES) return undefined;
  }
  return done;
}

interface Group {
  readonly start: number;
  /** After the closing brace. */
  readonly end: number;
  readonly choices: string[];
}

function firstGroup(text: string, from: number): Group | undefined {
  for (let start = from; start < text.length; start++) {
    if (text[start] === "\\") start += 1;
    else if (text[start] === "{") {
      const group = groupAt(text, start);
      if (group !== undefined && group.choices.length > 1) return group;
    }
  }
  return undefined;
}

function groupAt(text: string, start: number): Group | undefined {
  const choices: string[] = [];
  let depth = 0;
  let choiceStart = start + 1;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (character === "\\") index += 1;
    else if (character === "{") depth += 1;
    else if (character === "," && depth === 1) {
      choices.push(text.slice(choiceStart, index));
      choiceStart = index + 1;
    } else if (character === "}") {
      depth -= 1;
      if (depth === 0) {
        choices.push(text.slice(choiceStart, index));
        return { start, end: index + 1, choices };
      }
    }
  }
  return undefined;
}
