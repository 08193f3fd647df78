/** Settings of the machine, as the page of `deepwright serve` gets them. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@deepwright/protocol";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { type Answer, providerServer } from "../test-support/provider-server.ts";
import { directoryWith, homeOf, startBinary } from "../test-support/run-binary.ts";

const KEY = "a-secret-key-of-the-owner";
const SKILL = "---\nname: roses\ndescription: How roses are cut.\n---\nCut them.\n";

async function served(files: Record<string, string>, settings: object, ...answers: Answer[]) {
  const cwd = await directoryWith(files);
  const home = homeOf(cwd);
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "settings.json"), JSON.stringify(settings));
  await writeFile(
    join(home, "mcp.json"),
    JSON.stringify({ mcpServers: { garden: { command: "no", disabled: true } } }),
  );
  const provider = await providerServer(answers);
  const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: provider.url };
  const running = startBinary(["serve", "--port", "0"], { cwd, env });
  let lines = "";
  running.child.stderr?.on("data", (text: string) => {
    lines += text;
  });
  onTestFinished(async () => {
    running.child.kill("SIGKILL");
    await running.result;
    await provider.close();
  });
  await running.shows("Listening on http://127.0.0.1:");
  const baseUrl = /Listening on (\S+)\n/.exec(lines)?.[1] as string;
  const token = await readFile(join(home, "server-token"), "utf8");
  return { cwd, home, client: createClient({ baseUrl, token: token.trim() }) };
}

test("the owner of deepwright serve sees what is set up, is told which rule decides, and reviews the memory", async () => {
  const settings = {
    permissions: [{ operations: ["write"], paths: ["/private/**"], mode: "deny" }],
    commands: { allow: ["npm test"], deny: ["git push"] },
  };
  const rewrite: Answer = {
    call: {
      name: "edit_file",
      args: { file_path: "/AGENTS.md", old_string: "- uses tabs", new_string: "- uses spaces" },
    },
  };
  const { cwd, home, client } = await served(
    { "AGENTS.md": "# Style\n- uses tabs\n", "skills/roses/SKILL.md": SKILL },
    settings,
    { text: ["Noted."] },
    rewrite,
    { text: ["Done."] },
  );
  const facts = await client.settings.get();
  expect(JSON.stringify(facts)).not.toContain(KEY);
  expect(facts).toMatchObject({ directory: cwd, approval_mode: "ask", permissions: settings.permissions });
  expect(facts.providers).toContainEqual({
    name: "anthropic",
    key: "ANTHROPIC_API_KEY",
    is_present: true,
    model: expect.any(String),
  });
  expect(facts.providers).toContainEqual(expect.objectContaining({ name: "openai", is_present: false }));
  expect(facts.mcp_servers).toEqual([{ name: "garden", origin: "user", state: "disabled", tools: [] }]);
  expect(facts.skills).toEqual([
    {
      name: "roses",
      description: "How roses are cut.",
      path: expect.stringContaining("SKILL.md"),
      is_trusted: false,
    },
  ]);
  expect(facts.memory).toMatchObject([
    { path: "/AGENTS.md", shown_path: join(cwd, "AGENTS.md"), is_there: true, is_trusted: false },
    { shown_path: join(home, "AGENTS.md"), is_there: false, is_trusted: true },
  ]);
  const why = async (about: Parameters<typeof client.settings.explain>[0]) => {
    const { decision, reason } = await client.settings.explain(about);
    return `${decision}: ${reason}`;
  };
  expect(await why({ path: "/private/a.md", operation: "write" })).toMatch(
    /^deny: Rule 1 of 1 .*'\/private\/\*\*'/,
  );
  expect(await why({ path: "/private/a.md" })).toMatch(/^allow: No rule fits/);
  expect(await why({ path: "/.env" })).toMatch(/^deny: The name says/);
  expect(await why({ command: "git push origin" })).toMatch(/^deny: /);
  expect(await why({ command: "npm test" })).toBe("allow: The settings allow `npm test`.");
  expect(await why({ command: "rm -r roses" })).toMatch(/^ask: No rule allows it/);
  const user = facts.memory[1]?.path as string;
  await client.settings.saveMemory(user, "- short answers\n", null);
  expect(await readFile(join(home, "AGENTS.md"), "utf8")).toBe("- short answers\n");
  await expect(client.settings.readMemory("/skills/roses/SKILL.md")).rejects.toMatchObject({
    code: "FORBIDDEN",
  });
  const { thread_id: threadId } = await client.threads.create();
  await client.runs.wait(threadId, {
    assistant_id: "agent",
    stream_mode: ["messages-tuple"],
    input: { messages: [{ role: "user", content: "Use spaces, not tabs" }] },
  });
  await client.settings.propose();
  await until(async () => (await client.settings.proposals()).status !== "working");
  expect(await client.settings.proposals()).toMatchObject({
    status: "done",
    message: "The review proposes this change.",
    conversations: 1,
    files: [{ path: "/AGENTS.md", before: "# Style\n- uses tabs\n", after: "# Style\n- uses spaces\n" }],
  });
  expect(await readFile(join(cwd, "AGENTS.md"), "utf8")).toBe("# Style\n- uses tabs\n");
});
