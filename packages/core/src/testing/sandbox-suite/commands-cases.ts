import { isSandboxBackend } from "../../backends/is-sandbox.ts";
import { ensure, same, show } from "../suite/suite-check.ts";
import { quote, type SandboxCase, type SandboxUnderTest } from "./sandbox-case.ts";

const SECRET_NAME = "DEEPWRIGHT_SUITE_SECRET";

/** Each command with the exit code it has to have. */
const EXIT_CODES: readonly (readonly [name: string, command: string, exitCode: number])[] = [
  ["a command that succeeds has exit code 0", "true", 0],
  ["a command that fails has its own exit code", "exit 3", 3],
  ["the largest exit code arrives", "exit 255", 255],
  ["of several commands the last one counts", "false; (exit 9); true", 0],
  ["an unknown command has exit code 127", "deepwright-has-no-such-command", 127],
  ["a file that cannot be run has exit code 126", "echo x > plain; chmod 644 plain; ./plain", 126],
  ["what a command prints does not change its exit code", "echo 'exit code 7'; echo 1 >&2", 0],
  ["a command that ends itself with TERM has 143, not the code of a time-out", "kill -TERM $$; sleep 5", 143],
  ["a command that ends itself with KILL has 137", "kill -KILL $$; sleep 5", 137],
  ["a command that ends with 124 was not stopped", "exit 124", 124],
  ["`exec` replaces the shell", "exec sh -c 'exit 4'", 4],
];

/** Each command with what it has to print. */
const LANGUAGE: readonly (readonly [name: string, command: string, output: string])[] = [
  ["a command may have several lines", "a=1\nb=2\n\n# a remark\necho $a$b\n", "12\n"],
  [
    "a here document arrives with its bytes",
    "cat <<'END'\n$HOME `x` \\n\n\tEN D\nEND\n",
    "$HOME `x` \\n\n\tEN D\n",
  ],
  ["variables and substitutions are the shell's", 'x=$(printf "%s" b); echo "a$x"c `echo d`', "abc d\n"],
  ["pipes and conditions work", "printf 'b\\na\\n' | sort && false || echo else", "a\nb\nelse\n"],
  ["a command may begin with a space or a remark", "  # first\n  echo second", "second\n"],
];

const ODD_TEXT = 'it\'s "odd" \\ $HOME $(echo no) `echo no` ;&|<>*?[a]{b,c}!~#% é€😀';

const exitCodeCases: readonly SandboxCase[] = EXIT_CODES.map(([name, command, exitCode]) => ({
  name,
  run: async (subject) => same((await subject.run(command)).exitCode, exitCode),
}));

const languageCases: readonly SandboxCase[] = LANGUAGE.map(([name, command, output]) => ({
  name,
  run: async (subject) => same(await subject.output(command), output),
}));

export const commandCases: readonly SandboxCase[] = [
  {
    name: "is known as a sandbox and keeps its id",
    run: async ({ backend }) => {
      ensure(isSandboxBackend(backend), "it needs `execute` and an `id` that is not empty");
      const before = backend.id;
      await backend.execute("true");
      same(backend.id, before, "id");
    },
  },
  ...exitCodeCases,
  {
    name: "a command the shell cannot read fails",
    run: async (subject) => {
      const { exitCode, output } = await subject.run("if true; then echo no");
      ensure(exitCode !== 0, "exit code is 0");
      ensure(output !== "" && !output.startsWith("no"), `expected an explanation, got ${show(output)}`);
    },
  },
  ...languageCases,
  {
    name: "quotes, backslashes, dollars and characters of all kinds in a command are left alone",
    run: async (subject) => same(await subject.output(`printf '%s' ${quote(ODD_TEXT)}`), ODD_TEXT),
  },
  {
    name: "a command of 64 KB is run",
    run: async (subject) => {
      const text = "0123456789abcdef".repeat(4096);
      same(await subject.output(`x=${text}; echo \${#x}`), "65536\n");
    },
  },
  ...["", " \n ", "echo a\0b"].map(
    (command): SandboxCase => ({
      name: `a command that is ${command.includes("\0") ? "cut by a NUL character" : show(command)} does not count as done`,
      run: async ({ backend }) => ensure(await isRefused(backend, command), "it succeeded"),
    }),
  ),
  {
    name: "every command starts in the same directory",
    run: async ({ backend }) => {
      const { output: first } = await backend.execute("pwd; cd /; pwd");
      const { output: second } = await backend.execute("pwd; cd /; pwd");
      same(second, first, "directories");
      ensure(first.startsWith("/"), `expected directories, got ${show(first)}`);
    },
  },
  {
    name: "a variable does not last",
    run: async (subject) => {
      await subject.output("x=1; export x");
      same(await subject.output('echo "[$x]"'), "[]\n");
    },
  },
  {
    name: "the usual programs are found",
    run: async (subject) => {
      await subject.output("command -v ls && command -v cat && command -v sleep");
    },
  },
  {
    name: "SH-01 a variable of the host is not there",
    run: async (subject) => {
      const env = (globalThis as { process?: { env: Record<string, string> } }).process?.env;
      if (env) env[SECRET_NAME] = "not for commands";
      try {
        const output = await subject.output("env");
        ensure(!output.includes(SECRET_NAME), "the command can see it");
        ensure(output.includes("PATH="), `expected variables, got ${show(output)}`);
      } finally {
        delete env?.[SECRET_NAME];
      }
    },
  },
  ...["cat", "read line || true", "sh", "head -c 1"].map(
    (command): SandboxCase => ({
      name: `SH-09 \`${command}\` finds its input at an end`,
      run: async (subject) => same((await subject.run(command, { timeout: 60 })).exitCode, 0),
    }),
  ),
];

async function isRefused(backend: SandboxUnderTest["backend"], command: string): Promise<boolean> {
  try {
    return (await backend.execute(command)).exitCode !== 0;
  } catch (error) {
    return typeof (error as { code?: unknown }).code === "string";
  }
}
