import { expect, it } from "vitest";
import { isControlPath, isHarnessPath } from "./control-files.ts";

it.each([
  "/.git",
  "/.git/hooks/pre-commit",
  "/.git/config",
  "/.GIT/hooks/x",
  "/packages/inner/.git/config",
  "/GIT~1/config",
  "/.git::$INDEX_ALLOCATION/config",
  "/.g\u200bit/config",
  "/.gitmodules",
  "/.bashrc",
  "/home/.ZSHRC",
  "/.profile",
  "/.envrc",
  "/.vscode/tasks.json",
  "/app/.idea/workspace.xml",
  "/.mcp.json",
  "/.cursor/mcp.json",
  "/.claude/settings.json",
  "/.npmrc",
  "/.husky/pre-commit",
  "/.ssh/authorized_keys",
  "/.github/workflows/ci.yml",
  "/.github/actions/build/action.yml",
  "/packages/app/.GitHub/workflows/ci.yml",
  "/.gitlab-ci.yml",
  "/.gitlab/ci/build.yml",
  "/.circleci/config.yml",
  "/.buildkite/pipeline.yml",
  "/azure-pipelines.yml",
  "/bitbucket-pipelines.yml",
  "/.travis.yml",
  "/.drone.yml",
  "/Jenkinsfile",
  "/.deepwright",
  "/.deepwright/config.yaml",
  "/.deepwright/large_tool_results/call-1",
  "/.deepwright/conversation_history/thread.md",
])("asks a person about %s", (path) => {
  expect(isControlPath(path)).toBe(true);
});

it.each([
  "/",
  "/src/index.ts",
  "/.gitignore",
  "/git/config",
  "/github/workflows/ci.yml",
  "/package.json",
  "/package-lock.json",
  "/pnpm-lock.yaml",
  "/packages/app/yarn.lock",
  "/Cargo.lock",
  "/Makefile",
  "/.env",
  "/docs/.bashrc/notes.md",
  "/large_tool_results/call-1",
  "/.../x",
])("leaves %s to the agent", (path) => {
  expect(isControlPath(path)).toBe(false);
});

it.each([
  ["/.deepwright/large_tool_results/call-1", true],
  ["/.deepwright/conversation_history/thread.md", true],
  ["/.deepwright/.gitignore", true],
  ["/.deepwright/large_tool_results", false],
  ["/.deepwright/config.yaml", false],
  ["/.deepwright", false],
  ["/inner/.deepwright/large_tool_results/call-1", false],
  ["/.Deepwright/large_tool_results/call-1", false],
  ["/.git/large_tool_results/x", false],
])("of %s it is %s that the harness may write it", (path, expected) => {
  expect(isHarnessPath(path)).toBe(expected);
});
