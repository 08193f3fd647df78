import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { scratchDirectory } from "../os-for-tests.ts";
import { WorkspaceRoot } from "./workspace-root.ts";
import { isControlName, searchWorkspace } from "./workspace-search.ts";

function searched(make: (root: string) => void) {
  const path = scratchDirectory();
  make(path);
  const root = new WorkspaceRoot(path);
  onTestFinished(() => root.close());
  const { repositories, controls, connections } = searchWorkspace(root);
  return {
    repositories: repositories.toSorted(),
    controls: controls.toSorted(),
    connections: connections.toSorted(),
  };
}

function file(root: string, path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), "");
}

const pipe = (root: string, path: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  execFileSync("mkfifo", [join(root, path)]);
};

it("repositories, steering files and connections are found below the top, three directories deep", () => {
  const found = searched((root) => {
    for (const path of [".git/config", "a/.git/config", "a/b/c/.GIT/config", "a/b/c/d/.git/config"])
      file(root, path);
    for (const path of [".vscode/x", "a/.vscode/x", "a/.envrc", "b/.envrc/x", "a/notes.txt"])
      file(root, path);
    for (const path of ["pipe", ".git/watch", "a/.git/watch", "a/pipe"]) pipe(root, path);
  });
  expect(found).toEqual({
    repositories: ["a/.git", "a/b/c/.GIT"],
    controls: ["a/.envrc", "a/.vscode"],
    connections: [".git/watch", "a/.git/watch", "a/pipe", "pipe"],
  });
});

it("directories full of packages are not searched", () => {
  const found = searched((root) => {
    file(root, "node_modules/a/.git/config");
    file(root, "a/dist/.envrc");
  });
  expect(found).toEqual({ repositories: [], controls: [], connections: [] });
});

it("so many of a kind are kept and no more", () => {
  const found = searched((root) => {
    for (let at = 0; at < 20; at++) file(root, `r${at}/.git/config`);
    for (let at = 0; at < 70; at++) file(root, `c${at}/.envrc`);
    for (let at = 0; at < 70; at++) pipe(root, `pipe${at}`);
  });
  expect([found.repositories.length, found.controls.length, found.connections.length]).toEqual([16, 64, 64]);
});

it("the search ends in a directory with very many entries", () => {
  const found = searched((root) => {
    file(root, "a/.git/config");
    for (let at = 0; at < 4_000; at++) writeFileSync(join(root, `file${at}`), "");
  });
  expect(found.repositories).toEqual([]);
});

it("names of steering files and directories are known, whatever their case", () => {
  for (const name of [".vscode", ".VSCode", ".envrc", ".Envrc"]) expect(isControlName(name), name).toBe(true);
  expect(isControlName("notes.txt")).toBe(false);
});
