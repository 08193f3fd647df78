/** Changes to conditions of a source file, one at a time, that a test of the file should notice. */
import { lineOf, type Node, placesIn } from "./syntax-tree.ts";

export interface Mutation {
  readonly start: number;
  readonly end: number;
  /** Replaces the text from `start` to `end`. */
  readonly text: string;
  readonly lineNumber: number;
  readonly column: number;
  readonly line: string;
  /** Describes the change in a few words. */
  readonly what: string;
}

const OPPOSITES = new Map([
  ["===", "!=="],
  ["!==", "==="],
  ["<", ">="],
  [">=", "<"],
  [">", "<="],
  ["<=", ">"],
  ["&&", "||"],
  ["||", "&&"],
  ["some", "every"],
  ["every", "some"],
]);

export function mutationsOf(source: string): Mutation[] {
  return placesIn(source).flatMap(({ node }) =>
    changesOf(node, (part) => source.slice(part.start, part.end)).map(({ part, shown, text, what }) => ({
      start: part.start,
      end: part.end,
      text,
      lineNumber: lineOf(source, shown),
      column: shown.start - source.lastIndexOf("\n", shown.start - 1),
      line: source.split("\n")[lineOf(source, shown) - 1] ?? "",
      what,
    })),
  );
}

/**
 * The source with all mutations in it. The environment variable `MUTATION` turns one of them on: `name`, `#` and its
 * index. Without the variable the code does the same as before.
 */
export function withSwitches(source: string, mutations: readonly Mutation[], name: string): string {
  const isAtPlaceOf = (a: Mutation, b: Mutation): boolean => a.start === b.start && a.end === b.end;
  const places = mutations
    .filter((mutation, index) => mutations.findIndex((other) => isAtPlaceOf(mutation, other)) === index)
    .toSorted((a, b) => a.start - b.start || b.end - a.end);
  const isOn = (mutation: Mutation): string =>
    `__mutation === ${JSON.stringify(`${name}#${mutations.indexOf(mutation)}`)}`;
  let next = 0;
  const render = (start: number, end: number): string => {
    let [text, at] = ["", start];
    for (let place = places[next]; place !== undefined && place.start < end; place = places[next]) {
      next++;
      const original = render(place.start, place.end);
      const choices = mutations
        .filter((mutation) => isAtPlaceOf(mutation, place as Mutation))
        .map((mutation) => `${isOn(mutation)} ? ${mutation.text} : `);
      text += source.slice(at, place.start);
      text +=
        place.text === "{}" ? `{ if (!(${isOn(place)})) ${original} }` : `(${choices.join("")}${original})`;
      at = place.end;
    }
    return text + source.slice(at, end);
  };
  return `var __mutation = globalThis.process?.env.MUTATION; ${render(0, source.length)}`;
}

interface Change {
  readonly part: Node;
  /** Its line is printed. */
  readonly shown: Node;
  readonly text: string;
  readonly what: string;
}

function changesOf(node: Node, textOf: (part: Node) => string): Change[] {
  const replaced = (part: Node, text: string, what: string, shown = part): Change => ({
    part,
    shown,
    text,
    what,
  });
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression":
      return ["true", "false"].map((value) => replaced(node.test, value, `condition is always ${value}`));
    case "LogicalExpression":
    case "BinaryExpression": {
      const other = OPPOSITES.get(node.operator);
      const text = `(${textOf(node.left)} ${other} ${textOf(node.right)})`;
      return other === undefined ? [] : [replaced(node, text, `${other} for ${node.operator}`)];
    }
    case "UnaryExpression":
      return node.operator === "!" ? [replaced(node, `(${textOf(node.argument)})`, "! removed")] : [];
    case "ThrowStatement":
      return [replaced(node, "{}", "throw removed")];
    case "CallExpression": {
      const name = node.callee.type === "MemberExpression" ? node.callee.property : undefined;
      const other = OPPOSITES.get(name?.name);
      if (other === undefined) return [];
      const [before, after] = [
        { ...node, end: name.start },
        { ...node, start: name.end },
      ];
      return [replaced(node, `${textOf(before)}${other}${textOf(after)}`, `${other} for ${name.name}`, name)];
    }
    default:
      return [];
  }
}
