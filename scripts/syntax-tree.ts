/** The syntax tree of a source file, for tests and scripts that check how code is written. */
import { parseAst } from "vitest/node";

/** A node of the tree. Its other fields depend on `type`. */
export type Node = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: any;
};

/** A node with the node around it, and the name of the variable or function it belongs to. */
export type Place = { readonly node: Node; readonly parent: Node; readonly owner: string };

export function placesIn(source: string): Place[] {
  return within(parseAst(source, { lang: "ts" }) as unknown as Node);
}

/** `node` and all nodes below it. */
export function within(node: Node, parent = node, owner = "", places: Place[] = []): Place[] {
  places.push({ node, parent, owner });
  const name = /^(?:VariableDeclarator|FunctionDeclaration)$/.test(node.type) ? node.id?.name : owner;
  for (const child of Object.values(node).flat()) if (child?.type) within(child, node, name, places);
  return places;
}

export function lineOf(source: string, { start }: Pick<Node, "start">): number {
  return source.slice(0, start).split("\n").length;
}
