/** The map of the repository names what there is. That its links lead somewhere is checked in links.test.ts. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const page = readFileSync("docs/architecture.md", "utf8");

function foldersWithSources(root: string): string[] {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
  );
  return [...new Set(files.map((name) => dirname(name)))].filter((folder) => folder !== ".").sort();
}

test.each(["core", "checkpoint", "sandboxes", "protocol", "evals"])(
  "every source folder of %s is on the map",
  (name) => {
    const missing = foldersWithSources(`packages/${name}/src`).filter(
      (folder) => !page.includes(`](../packages/${name}/src/${folder})`),
    );
    expect(missing).toEqual([]);
  },
);

test("every package is on the map", () => {
  const packages = readdirSync("packages").filter(
    (name) => name !== "node_modules" && statSync(join("packages", name)).isDirectory(),
  );
  expect(packages.filter((name) => !page.includes(`](../packages/${name}/src)`))).toEqual([]);
});

test("every guide is in the index", () => {
  const index = readFileSync("docs/README.md", "utf8");
  const guides = readdirSync("docs").filter((name) => name.endsWith(".md") && name !== "README.md");
  expect(guides.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});
