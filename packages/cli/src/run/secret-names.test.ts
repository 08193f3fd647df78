import { expect, it } from "vitest";
import { isSecretPath } from "./secret-names.ts";

it.each([
  ["/.env", true],
  ["/app/.env.local", true],
  ["/.ENV", true],
  ["/.npmrc", true],
  ["/home/id_ed25519", true],
  ["/tls/server.pem", true],
  ["/.env.example", false],
  ["/server.key.sample", false],
  ["/.envrc", false],
  ["/src/environment.ts", false],
  ["/id_rsa/readme.md", false],
])("%s: %s", (path, isSecret) => {
  expect(isSecretPath(path)).toBe(isSecret);
});
