import { ensure, same, show } from "../suite/suite-check.ts";
import type { SandboxCase } from "./sandbox-case.ts";

/** Each command with exactly what it has to give. */
const EXACT: readonly (readonly [name: string, command: string, output: string])[] = [
  ["output comes as it was written", "echo hello", "hello\n"],
  ["a missing line end at the end stays missing", "printf 'no end'", "no end"],
  ["no output is empty text", "true", ""],
  ["empty lines, blanks and tabs are kept", "printf '\\n\\n  a\\t\\n \\n\\n'", "\n\n  a\t\n \n\n"],
  ["a carriage return is kept", "printf 'a\\rb\\r\\n'", "a\rb\r\n"],
  ["what goes to standard error is output too", "echo out; echo err >&2", "out\nerr\n"],
  ["the two streams are in the order they were written", alternate(20), alternated(20)],
  ["what a failing command wrote is kept", "echo before; echo why >&2; (exit 1) || true", "before\nwhy\n"],
  [
    "sequences for a terminal are data",
    "printf '\\033[31mred\\033[0m\\007\\n'",
    "\u001b[31mred\u001b[0m\u0007\n",
  ],
  [
    "characters of two, three and four bytes arrive",
    "printf '\\303\\251\\342\\202\\254\\360\\237\\230\\200'",
    "é€😀",
  ],
  ["a mark for the order of bytes is kept", "printf '\\357\\273\\277x'", "\ufeffx"],
  [
    "SH-06 a character that comes byte by byte arrives whole",
    "printf '\\342'; sleep 0.2; printf '\\202'; sleep 0.2; printf '\\254\\n'",
    "€\n",
  ],
  [
    "words that look like a protocol are data",
    "printf '%s\\n' EOF '{\"exitCode\":1}' '__END__' 'exit 1'",
    'EOF\n{"exitCode":1}\n__END__\nexit 1\n',
  ],
];

const LINES = 300_000;

export const outputCases: readonly SandboxCase[] = [
  ...EXACT.map(
    ([name, command, output]): SandboxCase => ({
      name,
      run: async (subject) => {
        const response = await subject.run(command);
        same(response.output, output, "output");
        same(response.truncated, false, "truncated");
        same(response.exitCode, 0, "exit code");
      },
    }),
  ),
  {
    name: "SH-07 bytes that are no text become replacement characters, and the rest arrives",
    run: async (subject) => {
      const output = await subject.output("printf 'a\\377\\376b\\n'");
      same(output, "a\ufffd\ufffdb\n", "output");
    },
  },
  {
    name: "SH-07 output with NUL bytes is valid text",
    run: async (subject) => {
      const output = await subject.output("printf 'a\\000b'");
      ensure(output.startsWith("a") && output.endsWith("b"), `expected a and b, got ${show(output)}`);
      same(JSON.parse(JSON.stringify(output)), output, "output through JSON");
    },
  },
  {
    name: "a thousand lines arrive whole",
    run: async (subject) => {
      const response = await subject.run("i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done");
      same(response.truncated, false, "truncated");
      same(response.output, Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join(""), "output");
    },
  },
  {
    name: "what is too long keeps its beginning and its end, and says so",
    run: async (subject) => {
      const { output, truncated, exitCode } = await subject.run(
        `echo first; yes 0123456789 | head -n ${LINES}; echo last`,
      );
      same(exitCode, 0, "exit code");
      ensure(output.startsWith("first\n"), `expected the first line, got ${show(output.slice(0, 100))}`);
      ensure(output.endsWith("last\n"), `expected the last line, got ${show(output.slice(-100))}`);
      const whole = "first\n".length + LINES * 11 + "last\n".length;
      ensure(truncated === output.length < whole, `truncated is ${truncated} at ${output.length} characters`);
    },
  },
  {
    name: "a flood on standard error is bounded the same way",
    run: async (subject) => {
      const { output, exitCode } = await subject.run(`yes error | head -n ${LINES} >&2; exit 5`);
      same(exitCode, 5, "exit code");
      ensure(output.startsWith("error\n") && output.endsWith("error\n"), "beginning and end are not there");
    },
  },
  {
    name: "SH-10 no character is broken where output was cut",
    run: async (subject) => {
      for (const shift of ["", "x", "xx", "xxx"]) {
        const output = await subject.output(`printf '%s' '${shift}'; yes 😀😀€é😀 | head -n 50000`);
        ensure(!output.includes("\ufffd") && output.isWellFormed(), "a character was cut in two");
      }
    },
  },
];

function alternate(times: number): string {
  return `i=0; while [ $i -lt ${times} ]; do echo out $i; echo err $i >&2; i=$((i+1)); done`;
}

function alternated(times: number): string {
  return Array.from({ length: times }, (_, i) => `out ${i}\nerr ${i}\n`).join("");
}
