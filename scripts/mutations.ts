/** Changes to conditions of a source file, one at a time, that a test of the file should notice. */
import { lineOf, type Node, placesIn } from "./syntax-tree.ts";

export interface Mutation {
  readonly start: number;
  readonly end: number;
  /** Replaces the text from `start` to `end`. */
  readonly text: string;
  readonly lineNumber: number;
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
    changesOf(node, (part) => source.slice(part.start, part.end)).map(({ part, text, what }) => ({
      start: part.start,
      end: part.end,
      text,
      lineNumber: lineOf(source, part),
      line: source.split("\n")[lineOf(source, part) - 1] ?? "",
      what,
    })),
  );
}

interface Change {
  readonly part: Node;
  readonly text: string;
  readonly what: string;
}

function changesOf(node: Node, textOf: (part: Node) => string): Change[] {
  const replaced = (part: Node, text: string, what: string): Change => ({ part, text, what });
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
      return other === undefined ? [] : [replaced(name, other, `${other} for ${name.name}`)];
    }
    default:
      return [];
  }
}
