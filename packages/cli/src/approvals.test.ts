import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Answer, type ProviderServer, providerServer } from "./test-support/provider-server.ts";
import { type BinaryResult, directoryWith, runBinary } from "./test-support/run-binary.ts";
import { startAtTerminal, type Terminal } from "./test-support/terminal.ts";

const DONE: Answer = { text: ["Done."] };
const MENU = "decision: ";
const UNSEEN = /(?![\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

function calls(name: string, args: Record<string, unknown>): Answer {
  return { call: { name, args } };
}

function writes(path: string, content: string): Answer {
  return calls("write_file", { file_path: path, content });
}

interface Desk {
  readonly cwd: string;
  readonly server: ProviderServer;
  /** `deepwright run …` without a terminal. */
  headless(args: readonly string[], env?: Record<string, string>): Promise<BinaryResult>;
  attended(args: readonly string[], env?: Record<string, string>): Terminal;
  /** The last message the model received. */
  told(): string;
  files(): Promise<string[]>;
}

async function desk(answers: readonly Answer[], files: Record<string, string> = {}): Promise<Desk> {
  const cwd = await directoryWith(files);
  const server = await providerServer([...answers, DONE]);
  onTestFinished(() => server.close());
  const keys = { ANTHROPIC_API_KEY: "key-key-key", ANTHROPIC_BASE_URL: server.url };
  return {
    cwd,
    server,
    headless: (args, env) => runBinary(["run", ...args], { cwd, env: { ...keys, ...env } }),
    attended: (args, env) => {
      const terminal = startAtTerminal(["run", ...args], { cwd, env: { ...keys, ...env } });
      onTestFinished(() => void terminal.child.kill());
      return terminal;
    },
    told: () => JSON.stringify(server.asked().at(-1)?.body),
    files: () => readdir(cwd),
  };
}

function endOf({ stdout }: BinaryResult): Record<string, any> {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "").data;
}

function threadIn(text: string): string {
  const [, id] = text.match(/thread: (\S+)/) ?? [];
  if (id === undefined) throw new Error(`No thread in:\n${text}`);
  return id;
}

describe("where nobody is, calls that need approval are denied at once (HI-10)", () => {
  it("the call does not run, the model is told, the run goes on to its end, and the code is 4", async () => {
    const { headless, told, files } = await desk([writes("/b.txt", "b")]);
    const result = await headless(["Work", "--ask", "changes"]);
    expect([result.code, result.stdout, await files()]).toEqual([4, "Done.\n", []]);
    expect(told()).toContain("no person could be asked");
    expect(result.stderr).toContain("Denied: write_file: no person is here to approve it\n");
    expect(result.stderr).toContain("✘ done, but 1 call was denied: no person was here to approve");
  });

  it("also at a terminal in CI, and with --json when nothing is kept", async () => {
    const { attended, files } = await desk([writes("/b.txt", "b")]);
    const terminal = attended(["Work", "--ask", "write_file"], { CI: "true" });
    expect(await terminal.ended).toBe(4);
    expect(terminal.screen()).not.toContain(MENU);
    const again = await desk([writes("/b.txt", "b")]);
    const result = await again.headless(["Work", "--ask", "write_file", "--json", "--ephemeral"]);
    expect(endOf(result)).toMatchObject({
      end: "outcome",
      exitCode: 4,
      denied: [{ tool: "write_file", agentPath: [] }],
    });
    expect([...(await files()), ...(await again.files())]).toEqual([]);
  });

  it("with --yes nobody is needed", async () => {
    const { headless, files } = await desk([writes("/b.txt", "b")]);
    expect((await headless(["Work", "--ask", "write_file", "--yes"])).code).toBe(0);
    expect(await files()).toEqual(["b.txt"]);
  });

  it("a name that is no tool's is wrong usage: a slip must not open the gate", async () => {
    const { headless } = await desk([]);
    const result = await headless(["Work", "--ask", "write_fil"]);
    expect([result.code, result.stderr]).toEqual([
      2,
      expect.stringContaining("'write_fil', which is not a tool"),
    ]);
  });
});

describe("a thread that waits", () => {
  it("waits with --wait, also after a --dry-run on a copy, goes on with --approve in another process, and keeps asking what it asked", async () => {
    const { headless, files, server } = await desk([writes("/b.txt", "b"), DONE, writes("/c.txt", "c")]);
    const waiting = await headless(["Work", "--ask", "changes", "--wait"]);
    expect([waiting.code, await files()]).toEqual([4, []]);
    const id = threadIn(waiting.stderr);
    expect(waiting.stderr).toContain(`Decide with: deepwright run --thread ${id}`);
    expect((await headless(["--thread", id, "--dry-run", "--approve"])).stderr).toContain("+ /b.txt");
    const untouched = await headless(["--thread", id]);
    expect([untouched.code, await files()]).toEqual([4, []]);
    expect(untouched.stderr).toContain("it waits for approval");
    expect(server.asked()).toHaveLength(2);
    const approved = await headless(["--thread", id, "--approve"]);
    expect([approved.code, await files()]).toEqual([4, ["b.txt"]]);
    expect(approved.stderr).toContain("Denied: write_file");
    const late = await headless(["--thread", id, "--approve"]);
    expect([late.code, late.stderr]).toEqual([2, expect.stringContaining("waits for no answer")]);
  });

  it("--reject tells the model why; a new task cancels what is open", async () => {
    const { headless, files, told } = await desk([writes("/b.txt", "b"), DONE, writes("/c.txt", "c")]);
    const id = threadIn((await headless(["Work", "--ask", "changes", "--wait"])).stderr);
    const rejected = await headless(["--thread", id, "--reject", "Not in this directory"]);
    expect([rejected.code, rejected.stdout]).toEqual([0, "Done.\n"]);
    expect(told()).toContain("Not in this directory");
    expect((await headless(["--thread", id, "More", "--wait"])).code).toBe(4);
    const other = await headless(["--thread", id, "Something else"]);
    expect([other.code, await files()]).toEqual([0, []]);
    expect(other.stderr).toContain("The new task cancels the calls that waited for approval.");
  });

  it("with --json the question is a part, and the run ends waiting", async () => {
    const { headless } = await desk([writes("/b.txt", "b")]);
    const result = await headless(["Work", "--ask", "write_file", "--json"]);
    const parts = result.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const asked = parts.find(({ type, data }) => type === "updates" && data.__interrupt__);
    expect(asked.data.__interrupt__[0].value.actionRequests[0]).toMatchObject({
      name: "write_file",
      args: { file_path: "/b.txt", content: "b" },
    });
    const end = endOf(result);
    expect(end).toMatchObject({ end: "approval", exitCode: 4, interrupts: [{ value: expect.anything() }] });
    const again = await headless(["--thread", end.threadId, "--json"]);
    expect(again.stdout).toContain('"__interrupt__"');
    expect(endOf(again)).toMatchObject({ end: "approval", exitCode: 4 });
  });
});

describe("at a terminal a person is asked", () => {
  it("y runs the call, n does not, e edits it first, and r gives the result in the place of the tool", async () => {
    const names = ["b", "c", "d", "e", "f"];
    const { cwd, attended, told } = await desk(names.map((name) => writes(`/${name}.txt`, name)));
    const terminal = attended(["Work", "--ask", "changes"]);
    await terminal.shows("? write_file");
    await terminal.answer(MENU, "y\r");
    await terminal.answer(MENU, "n\r");
    await terminal.answer("reason", "Too many files\r");
    await terminal.answer(MENU, "e\r");
    await terminal.answer("arguments: ", `\x15{"file_path":"/d.txt","content":"two"}\r`);
    await terminal.shows("? write_file, edited");
    await terminal.answer(MENU, "y\r");
    // Arguments that the tool does not take are asked about again, with the reason.
    await terminal.answer(MENU, "e\r");
    await terminal.answer("arguments: ", `\x15{"file_path":7}\r`);
    await terminal.answer(MENU, "y\r");
    await terminal.shows("The answer was not accepted");
    await terminal.answer(MENU, "y\r");
    await terminal.answer(MENU, "r\r");
    await terminal.answer("its result: ", "It is there already\r");
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain("  file_path: /b.txt\n  content: b\n");
    expect((await readdir(cwd)).sort()).toEqual(["b.txt", "d.txt", "e.txt"]);
    expect(await readFile(join(cwd, "d.txt"), "utf8")).toBe("two");
    expect(await readFile(join(cwd, "e.txt"), "utf8")).toBe("e");
    for (const words of ["Too many files", "It is there already"]) expect(told()).toContain(words);
  });

  it("a approves exactly this call for the rest of the thread", async () => {
    const change = calls("delete", { file_path: "/none.txt" });
    const { attended } = await desk([change, DONE, change, calls("delete", { file_path: "/a.txt" })], {
      "a.txt": "a",
    });
    const first = attended(["Work", "--ask", "changes"]);
    await first.answer(MENU, "a\r");
    expect(await first.ended).toBe(0);
    const second = attended(["--thread", threadIn(first.screen()), "Again"]);
    await second.answer(MENU, "n\r");
    await second.answer("reason", "\r");
    expect(await second.ended).toBe(0);
    expect(second.screen().split("? delete")).toHaveLength(2);
    expect(second.screen()).toContain("  file_path: /a.txt\n");
  });

  it("e edits the arguments in EDITOR; the edited call is shown before it is approved", async () => {
    const { cwd, attended } = await desk([writes("/c.txt", "one")]);
    const terminal = attended(["Work", "--ask", "changes"], { EDITOR: "perl -pi -e s/one/three/" });
    await terminal.answer(MENU, "e\r");
    await terminal.shows("content: three");
    await terminal.answer(MENU, "y\r");
    expect(await terminal.ended).toBe(0);
    expect(await readFile(join(cwd, "c.txt"), "utf8")).toBe("three");
  });

  it("Ctrl-C leaves the thread waiting and says how to go on; --thread shows the question first", async () => {
    const { attended, files, server } = await desk([writes("/b.txt", "b")]);
    const terminal = attended(["Work", "--ask", "changes"]);
    await terminal.answer(MENU, "\x03");
    expect(await terminal.ended).toBe(130);
    const id = threadIn(terminal.screen());
    expect(terminal.screen()).toContain(`Decide with: deepwright run --thread ${id}`);
    expect(await files()).toEqual([]);
    const later = attended(["--thread", id.slice(0, 8)]);
    await later.shows("? write_file");
    expect(server.asked()).toHaveLength(1);
    await later.answer(MENU, "y\r");
    expect(await later.ended).toBe(0);
    expect(await files()).toEqual(["b.txt"]);
  });

  it("SIGTERM ends a question too: 143, and the thread waits", async () => {
    const { attended, headless, files } = await desk([writes("/b.txt", "b")]);
    const terminal = attended(["Work", "--ask", "changes"]);
    await terminal.shows(MENU);
    terminal.terminate();
    expect(await terminal.ended).toBe(143);
    expect(terminal.screen()).toContain("Decide with: deepwright run --thread");
    expect((await headless(["--thread", threadIn(terminal.screen()), "--approve"])).code).toBe(0);
    expect(await files()).toEqual(["b.txt"]);
  });

  it("a text of 200 KB can be read to its end, and what hides in it is seen and named (HI-08)", async () => {
    const content = `\x1b[2Jone\u202e\n${"padding ".repeat(26_000)}\n\n\n\n\n\n\nrm -rf ~ \u200b\n\n\n`;
    const { attended, files } = await desk([writes("/b.sh", content)]);
    const terminal = attended(["Work", "--ask", "changes"]);
    await terminal.shows(MENU);
    const asked = terminal.screen();
    expect(asked.slice(0, asked.indexOf("  y yes"))).not.toMatch(UNSEEN);
    expect(asked).toContain("  content: (11 lines, 203 KB)\n  │ \\x1b[2Jone\\u202e\n");
    expect(asked).toMatch(/rows are not shown: v shows all; this is the end/);
    expect(asked).toContain("  │ ⟨6 empty lines⟩\n  │ rm -rf ~ \\u200b\n");
    for (const warning of [
      "! content: 1 character that turns the direction of text, such as \\u202e",
      "! content: 1 control character, such as \\x1b",
      "! content: 1 invisible character, such as \\u200b",
      "! content: it goes on after 6 empty lines",
      "! content: it ends with 3 line breaks",
    ])
      expect(asked).toContain(warning);
    terminal.type("v\r");
    await terminal.shows("1 to 28 of");
    terminal.type("\r");
    await terminal.shows("29 to 56 of");
    terminal.type("e\r");
    await terminal.shows("rm -rf ~ \\u200b");
    await terminal.answer(MENU, "n\r");
    await terminal.answer("reason", "\r");
    expect(await terminal.ended).toBe(0);
    expect(await files()).toEqual([]);
  });

  it("what was typed before the question is no answer to it", async () => {
    let release = (): void => {};
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { attended, files } = await desk([{ text: ["Thinking", " on"], hold, ...writes("/b.txt", "b") }]);
    const terminal = attended(["Work", "--ask", "changes"]);
    await terminal.shows("Thinking");
    terminal.type("y\ry\r");
    release();
    await terminal.shows(MENU);
    expect(await files()).toEqual([]);
    await terminal.answer(MENU, "n\r");
    await terminal.answer("reason", "\r");
    expect(await terminal.ended).toBe(0);
    expect(await files()).toEqual([]);
  });

  it("a subagent's call is asked about with the names on the way to it", async () => {
    const { cwd, attended } = await desk([
      calls("task", { description: "Write it", subagent_type: "general-purpose" }),
      writes("/b.txt", "b"),
      { text: ["Written."] },
    ]);
    const terminal = attended(["Work", "--ask", "write_file"]);
    await terminal.shows("? write_file by general-purpose");
    await terminal.answer(MENU, "y\r");
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain("  general-purpose │ ● write_file /b.txt");
    expect(await readdir(cwd)).toEqual(["b.txt"]);
  });
});
