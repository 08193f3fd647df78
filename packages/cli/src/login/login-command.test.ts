import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { providerServer } from "../test-support/provider-server.ts";
import { directoryWith, homeOf, runBinary } from "../test-support/run-binary.ts";
import { startAtTerminal } from "../test-support/terminal.ts";

/** A keyring that is a file, with the words of the real program. */
const SECRET_TOOL = `#!/bin/sh
file="$KEYRING_FILE-$(eval echo \\\${$#})"
case "$1" in
store) cat > "$file" ;;
lookup) cat "$file" ;;
clear) rm "$file" ;;
esac
`;

it("stores keys in the keyring or a private file, never in settings, and runs use them", async () => {
  const server = await providerServer([{ text: ["done"] }], ["tiny"]);
  onTestFinished(() => server.close());
  const directory = await directoryWith({});
  const bin = join(`${directory}.home`, "bin");
  await mkdir(bin, { recursive: true });
  const tool = SECRET_TOOL.replaceAll("$KEYRING_FILE", join(bin, "secret"));
  await writeFile(join(bin, "secret-tool"), tool);
  await chmod(join(bin, "secret-tool"), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}`, OPENAI_BASE_URL: `${server.url}/v1` };
  const file = join(homeOf(directory), "keys.json");

  const stored = await runBinary(["login", "openai"], { cwd: directory, env, stdin: "sk-keyring-1234\n" });
  expect(stored.stderr).toContain("Stored in the keyring of your desktop.");
  expect(await readFile(file, "utf8")).not.toContain("sk-keyring");
  const run = await runBinary(["run", "go"], { cwd: directory, env });
  expect(run.stderr).toContain("OPENAI_API_KEY is set");
  expect(server.asked()[0]?.headers.authorization).toBe("Bearer sk-keyring-1234");

  const terminal = startAtTerminal(["login", "groq"], {
    cwd: directory,
    env: { ...env, DEEPWRIGHT_KEYRING: "off" },
  });
  await terminal.answer("Key of groq (not shown): ", "gsk-file-5678x\u007f\r");
  expect(await terminal.ended).toBe(0);
  expect(terminal.screen()).not.toContain("gsk-file");
  expect(JSON.parse(await readFile(file, "utf8")).keys.groq).toEqual({ in: "file", key: "gsk-file-5678" });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const models = await runBinary(["models"], {
    cwd: directory,
    env: { ...env, LMSTUDIO_BASE_URL: `${server.url}/v1`, VLLM_BASE_URL: "http://127.0.0.1:1/v1" },
  });
  expect(models.stdout).toMatch(/lmstudio:tiny +LM Studio at http/);
  expect(models.stdout).toMatch(/groq:MODEL +GROQ_API_KEY is set/);
  expect(models.stderr).toContain("vLLM (http://127.0.0.1:1/v1)");
  expect(models.stderr).toContain("A run here: Model: openai:tiny");
  expect(await runBinary(["logout", "groq"], { cwd: directory, env })).toMatchObject({ code: 0 });
  expect((await runBinary(["login", "--list"], { cwd: directory, env })).stdout).toMatch(/openai +keyring/);
  const wrong = await runBinary(["login", "nobody"], { cwd: directory, env, stdin: "x" });
  expect(wrong).toMatchObject({ code: 2 });
});
