/**
 * One function starts programs, so that none of them inherits a directory or variables unasked. One file writes to the
 * console, so that no text reaches a terminal with control characters in it. New exceptions need a reason here.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFiles } from "../scripts/project-files.ts";
import { lineOf, type Node, type Place, placesIn } from "../scripts/syntax-tree.ts";

/** Files that are not part of a published program. */
const NOT_SHIPPED = /\.test\.ts$|-for-tests\.ts$|\/(?:chaos|test-support|fixtures|use-stream|conformance)\//;

/** The files that may import `child_process`, with the reason. */
const STARTING: Readonly<Record<string, string>> = {
  "packages/core/src/backends/shell/child-process.ts": "The one function for programs.",
};

/** The files that may use the console of Node, with the reason. */
const PRINTING: Readonly<Record<string, string>> = {
  "packages/core/src/console-line.ts": "Escapes what steers a terminal.",
};

const CONSOLE_METHODS =
  /^(?:log|error|warn|info|debug|trace|dir|dirxml|table|group|groupCollapsed|assert|count|time|timeEnd|timeLog)$/;
const PROCESSES = /^(?:node:)?child_process$/;

const files = projectFiles("packages").filter(
  (path) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && !NOT_SHIPPED.test(path),
);

/** Files and lines where `isMeant` is true of a node. */
function found(isMeant: (place: Place) => boolean): { readonly file: string; readonly line: string }[] {
  return files.flatMap((file) => {
    const source = readFileSync(file, "utf8");
    return placesIn(source)
      .filter(isMeant)
      .map(({ node }) => ({ file, line: `${file}:${lineOf(source, node)}` }));
  });
}

const elsewhere = (places: ReturnType<typeof found>, allowed: object): string[] =>
  places.filter(({ file }) => !Object.hasOwn(allowed, file)).map(({ line }) => line);

/** Imports of values, static or not, `require` included. Types start nothing. */
function importsProcesses({ node, parent }: Place): boolean {
  if (node.type !== "Literal" || !PROCESSES.test(String(node.value))) return false;
  if (parent.type !== "ImportDeclaration") return true;
  const named = parent.specifiers as Node[];
  return parent.importKind !== "type" && !named.every(({ importKind }) => importKind === "type");
}

/** `console` of the command line is its own class, which has none of these methods. */
function usesConsole({ node }: Place): boolean {
  if (node.type !== "MemberExpression") return false;
  const { object, property } = node;
  if (object.name === "globalThis") return property.name === "console";
  return object.name === "console" && CONSOLE_METHODS.test(property.name ?? property.value ?? "");
}

test("programs are started by one function, which every file uses", () => {
  const places = found(importsProcesses);
  expect(elsewhere(places, STARTING)).toEqual([]);
  expect(new Set(places.map(({ file }) => file))).toEqual(new Set(Object.keys(STARTING)));
});

test("nothing is written to the console but through the file that makes text safe", () => {
  const places = found(usesConsole);
  expect(elsewhere(places, PRINTING)).toEqual([]);
  expect(new Set(places.map(({ file }) => file))).toEqual(new Set(Object.keys(PRINTING)));
});
