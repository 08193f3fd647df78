/**
 * Every source file that opens a file by name or starts a program stands in docs/path-census.md, with the calls it makes
 * and the reason why the name cannot lead elsewhere. New code that does either has to be added there.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFiles } from "../scripts/project-files.ts";
import { type Node, placesIn } from "../scripts/syntax-tree.ts";

const GUIDE = "docs/path-census.md";
const MODULES = /^(?:node:)?(?:fs|fs\/promises|child_process)$/;
/** Files that are not part of a published program. */
const NOT_SHIPPED = /\.test\.ts$|-for-tests\.ts$|\/(?:chaos|test-support|fixtures|use-stream|conformance)\//;
/** Names that take a descriptor instead of a path, or are not functions. */
const BY_DESCRIPTOR =
  /^(?:constants|[A-Z]\w*|f(?:stat|chmod|chown|sync|datasync|truncate|utimes)(?:Sync)?|(?:read|readv|write|writev|close)(?:Sync)?)$/;

const files = projectFiles("packages").filter(
  (path) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && !NOT_SHIPPED.test(path),
);

/** Our own function that starts programs, in `backends/shell/child-process.ts`, counts as one of Node. */
const STARTING = /^(?:startProgram|runProgramSync)$/;

/** Names of functions of Node that `source` calls with a path or a program. */
function callsIn(source: string): string[] {
  const named = new Map<string, string>();
  const whole = new Set<string>();
  const called = new Set<string>();
  for (const { node, parent } of placesIn(source)) {
    if (node.type === "ImportDeclaration" && MODULES.test(node.source.value) && node.importKind !== "type")
      for (const { type, local, imported, importKind } of node.specifiers as Node[])
        if (type !== "ImportSpecifier") whole.add(local.name);
        else if (importKind !== "type") named.set(local.name, imported.name);
    if (node.type === "ImportDeclaration" && node.importKind !== "type")
      for (const { type, local, imported } of node.specifiers as Node[])
        if (type === "ImportSpecifier" && STARTING.test(imported.name)) named.set(local.name, imported.name);
    if (node.type === "Property" && parent.type === "ObjectPattern" && STARTING.test(node.key.name ?? ""))
      called.add(node.key.name);
    if (node.type !== "Identifier" || parent.type === "ImportSpecifier") continue;
    const isProperty = parent.type === "MemberExpression" && parent.property === node && !parent.computed;
    const owner = isProperty && parent.object.type === "Identifier" ? parent.object.name : "";
    if (whole.has(owner)) called.add(node.name);
    else if (!isProperty && named.has(node.name)) called.add(named.get(node.name) ?? "");
  }
  return [...called].filter((name) => !BY_DESCRIPTOR.test(name)).sort();
}

/** Rows of the guide: file, calls, reason. */
function documented(): Map<string, { calls: string[]; reason: string }> {
  const rows = readFileSync(GUIDE, "utf8").matchAll(/^\| `(packages\/[^`]+)` \| (.*?) \| (.*?) \|$/gm);
  return new Map(
    [...rows].map(([, file = "", calls = "", reason = ""]) => [file, { calls: calls.split(", "), reason }]),
  );
}

test("every source file that opens a file by name or starts a program is listed with its reason", () => {
  const found = new Map(
    files
      .map((file): [string, string[]] => [file, callsIn(readFileSync(file, "utf8"))])
      .filter(([, calls]) => calls.length > 0),
  );
  const listed = documented();
  const rows = new Map([...listed].map(([file, { calls }]) => [file, calls]));
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(found));
  for (const [file, { reason }] of listed) expect(reason.length, file).toBeGreaterThan(20);
});
