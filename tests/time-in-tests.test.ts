/** Tests pass on a slow machine: they wait for events, and the limits they check stand in scripts/test-limits.ts. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFiles } from "../scripts/project-files.ts";
import { lineOf, type Node, type Place, placesIn, within } from "../scripts/syntax-tree.ts";
import { LIMITS } from "../scripts/test-limits.ts";

const LEAST_TIMEOUT = 600_000;
const TEST_FILE =
  /^(?!.*(?:node_modules|\/dist\/)).*(?:(?:\.test|-for-tests)\.ts|\/(?:fixtures|test-support)\/.*\.(?:ts|mjs|js))$/;

const sources = projectFiles("packages", "examples", "tests")
  .filter((path) => TEST_FILE.test(path))
  .map((path) => [path, readFileSync(path, "utf8")]);

/** `expect.poll(…).toBe` is expect, poll, toBe; `test.each(…)` is test, each. */
function words(node: Node): string[] {
  if (node.type === "MemberExpression") return [...words(node.object), ...words(node.property)];
  return node.type === "CallExpression" ? words(node.callee) : node.type === "Identifier" ? [node.name] : [];
}

const isElapsed = ({ node }: Pick<Place, "node">): boolean =>
  node.operator === "-" && /^(?:Date|performance) now$/.test(words(node.left ?? node).join(" "));

function problems(source: string): string[] {
  const places = placesIn(source);
  const timed = new Set<string>();
  for (const { parent, owner } of places.filter(isElapsed))
    if (/Declarator|Return|Arrow/.test(parent.type)) timed.add(owner);
    else if (words(parent).at(-1) === "push") timed.add(words(parent)[0] ?? "");
  const isTime = (tree: Node) => within(tree).some((p) => isElapsed(p) || timed.has(p.node.name));
  const numberOf = (node: Node | undefined): number => {
    if (node?.operator === "*") return numberOf(node.left) * numberOf(node.right);
    if (node?.type !== "Identifier") return typeof node?.value === "number" ? node.value : Number.NaN;
    return numberOf(places.find(({ node: { id, init } }) => init && id.name === node.name)?.node.init);
  };
  const isShort = (node: Node): boolean =>
    numberOf(node) < LEAST_TIMEOUT ||
    node.properties?.some(({ key, value }: Node) => key?.name === "timeout" && isShort(value));
  const problem = (node: Node): string | undefined => {
    const called = node.type === "CallExpression" ? words(node.callee) : [];
    const name = called.join(" ");
    if (/^vi wait(?:For|Until)$/.test(name)) return "use eventually or until";
    if (/^expect.* toBeLessThan/.test(name) && isTime(node.callee)) return "use withinLimit";
    if (/^<=?$/.test(node.operator) && isTime(node.left)) return "use until, or withinLimit";
    if (/^(?:test|hook)Timeout$/.test(node.key?.name) && isShort(node.value)) return "leave the time-out out";
    const takesLimit = /\b(?:test|it|describe|(?:before|after)(?:All|Each))\b|^expect poll$/.test(name);
    return takesLimit && node.arguments.slice(1).some(isShort) ? "leave the time-out out" : undefined;
  };
  return places.flatMap(({ node }) => (problem(node) ? [`${lineOf(source, node)}: ${problem(node)}`] : []));
}

test("no test waits or measures by a clock of its own", () => {
  const suspects = sources.filter(([, source = ""]) => /\.wait|\.now\(\)|imeout|_000/.test(source));
  const found = suspects.flatMap(([path, source = ""]) => problems(source).map((text) => `${path}:${text}`));
  expect(found).toEqual([]);
});

test("every limit is checked by a test", () => {
  const text = String(sources);
  expect(Object.keys(LIMITS).filter((name) => !text.includes(JSON.stringify(name)))).toEqual([]);
});
