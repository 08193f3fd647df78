import { expect, it } from "vitest";
import { isSecretPath } from "./secret-names.ts";

it.each([
  ["/.env", true],
  ["/app/.env.local", true],
  ["/.ENV", true],
  ["/.npmrc", true],
  ["/home/id_ed25519", true],
  ["/tls/server.pem", true],
  ["/.git/config", true],
  ["/sub/.git/modules/a/config", true],
  ["/.git/config.worktree", true],
  ["/.git/refs/heads/config", false],
  ["/.git/objects/ab/cdef", true],
  ["/.aws/credentials", true],
  ["/src/credentials", false],
  ["/src/credentials.json", true],
  ["/.kube/config", true],
  ["/.docker/config.json", true],
  ["/config.json", false],
  ["/.pypirc", true],
  ["/.env.example", false],
  ["/server.key.sample", false],
  ["/.envrc", false],
  ["/src/environment.ts", false],
  ["/id_rsa/readme.md", false],
])("%s: %s", (path, isSecret) => {
  expect(isSecretPath(path)).toBe(isSecret);
});
