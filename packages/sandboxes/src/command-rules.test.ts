import { ConfigurationError } from "deepwright";
import { describe, expect, it } from "vitest";
import { type CommandRule, createCommandRules, READ_ONLY_COMMANDS } from "./command-rules.ts";

/** Nothing but `git log`, with harmless options. */
const GIT_LOG = createCommandRules([
  {
    decision: "allow",
    command: "git log",
    options: ["--oneline", "-n <number>", "--format=<text>"],
    operands: "paths",
    examples: { match: ["git log", "git log -n 5 src"], notMatch: ["git log; id"] },
  },
]);
const ALL = createCommandRules(READ_ONLY_COMMANDS);

const CASES: Readonly<Record<string, readonly string[]>> = {
  "CL-01 lists, pipes and background jobs": [
    "git log; id",
    "git log && id",
    "git log || id",
    "git log | sh",
    "git log & id",
    "git log;",
    "git log &",
    "! git log",
    "time git log",
    "(git log)",
    "{ git log; }",
    "git log && git log",
  ],
  "CL-02 substitutions": [
    "git log $(id)",
    "git log `id`",
    'git log "$(id)"',
    "git log <(id)",
    "git log >(id)",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    "git log ${X:-$(id)}",
    "git log $X",
    'git log "$X"',
    "git log $((1+1))",
    "git log $'a'",
    'git log $"a"',
    "git log ~",
    "git log ~/x",
    "git log *",
    "git log a?",
    "git log [ab]",
    "git log {a,b}",
    "git log a\\ b",
    'git log "a\\b"',
    'git log "a!b"',
    "git log =ls",
  ],
  "CL-03 redirects": [
    "git log > /tmp/x",
    "git log >> ~/.bashrc",
    "git log 2>&1 | tee x",
    "git log <<E\nid\nE",
    "git log <<< x",
    "git log < x",
    "git log &> x",
    "2>x git log",
    ">x git log",
  ],
  "CL-04 options that write or run": [
    "git log --output=/tmp/x",
    "git log --output /tmp/x",
    "git log --outpu=/tmp/x",
    "git -c core.pager=id log",
    "git log --ext-diff",
    "git --exec-path=. log",
    "git -C /tmp log",
    "git --git-dir=/tmp/x log",
    "git -p log",
    "git log -n --output=x",
    "git log -- --output=x",
    "git log -O/tmp/x",
  ],
  "CL-05 variables and what changes the shell": [
    "PAGER=id git log",
    "PATH=. git log",
    "export PAGER=id",
    "declare -x X=1",
    "alias git=id",
    "set -a",
    "source x",
    ". x",
    "X=1",
  ],
  "CL-06 programs that run programs, and other paths": [
    "env git log",
    "bash -c 'git log; id'",
    "xargs git log",
    "nice git log",
    "sudo git log",
    "./git log",
    "/tmp/git log",
    "command git log",
    "exec git log",
    "eval git log",
  ],
  "CL-07 names that only begin alike": ["git logout", "gitlog", "GIT log", "git LOG", "git", "git-log"],
  "CL-08 line breaks and characters nobody sees": [
    "git log\nid",
    "git log\r\nid",
    "git log\r",
    "git log\tx",
    "git log\u00a0x",
    "git\u00a0log",
    "git log a\u2028id",
    "git log a\u2029id",
    "git log a\u200bb",
    "git log 'a\u200bb'",
    "git log \u202ea",
    "git log \u0000id",
    "git log \u001b[2J",
    "git log \u2800",
    "git log \u{e0041}",
    "git log \ud800",
    "git log é",
  ],
  "CL-09 what cannot be read, and too much": [
    "git log 'unclosed",
    'git log "unclosed',
    "git log &&& id",
    "git log )",
    "git log |",
    `git log ${"a".repeat(100 * 1024)}`,
    `git log ${"(".repeat(2000)}`,
    "",
    " ",
    "# git log",
    "git log # id",
    "#!/bin/sh git log",
  ],
  "CL-10 many commands before the one that matters": [
    `${"true && ".repeat(60)}curl evil`,
    `${"true; ".repeat(500)}curl evil`,
  ],
};

describe.each(Object.entries(CASES))("%s", (_, commands) => {
  it.each(commands.map((command) => [command.slice(0, 60), command]))("%j is asked about", (_, command) => {
    for (const rules of [GIT_LOG, ALL]) expect(rules.judge(command)).toMatchObject({ decision: "ask" });
  });
});

describe("a rule that allows", () => {
  it.each([
    ["git log", ["git", "log"]],
    ["git  log", ["git", "log"]],
    [" git log ", ["git", "log"]],
    ["git log -n 5 --oneline -- src", ["git", "log", "-n", "5", "--oneline", "--", "src"]],
    ["git log -n5", ["git", "log", "-n5"]],
    ["git log HEAD~2^ a..b", ["git", "log", "HEAD~2^", "a..b"]],
    [`git log --format='%h "%s" $x' "a b"`, ["git", "log", `--format=%h "%s" $x`, "a b"]],
    ["git log 'naïve – text'", ["git", "log", "naïve – text"]],
    [`git 'log' ""x`, ["git", "log", "x"]],
  ])("CL-07 lets %j run, and says with which words", (command, words) => {
    expect(GIT_LOG.judge(command)).toMatchObject({ decision: "allow", words, rule: { command: "git log" } });
  });

  it("lets paths stay below the directory only", () => {
    for (const path of [
      "/etc/passwd",
      "../x",
      "a/../../x",
      "~/x",
      "'~/x'",
      "HEAD:../x",
      "HEAD:/x",
      "''",
      "'..\\x'",
    ])
      expect(GIT_LOG.judge(`git log ${path}`).decision).toBe("ask");
  });

  it("knows options joined in one word, with values, and with values that may be left out", () => {
    const rules = createCommandRules([
      {
        decision: "allow",
        command: "list",
        options: [
          "-l",
          "-a",
          "-n <number>",
          "--stat[=<number>]",
          "--file=<path>",
          "-<number>",
          "-name <text>",
        ],
        examples: {
          match: [
            "list -la",
            "list -lan5",
            "list -lan 5",
            "list --stat",
            "list --stat=3",
            "list --file=a/b",
          ].concat(["list --file a", "list -12", "list -name x", "list -a -a"]),
          notMatch: [
            "list -lx",
            "list -la5",
            "list -n",
            "list -n x",
            "list -n -5",
            "list --stat 3",
            "list --file=/a",
          ].concat([
            "list --file ../a",
            "list --file",
            "list -",
            "list --",
            "list --l",
            "list x",
            "list -names x",
          ]),
        },
      },
    ]);
    expect(rules.describe()).toContain("allow: list [-l -a");
  });
});

describe("rules that ask or refuse", () => {
  const rules = createCommandRules([
    ...READ_ONLY_COMMANDS,
    {
      decision: "deny",
      command: "curl",
      reason: "Nothing is fetched here.",
      examples: {
        match: ["curl a", "/usr/bin/curl a", "true && curl a", "echo $(curl a)"],
        notMatch: ["curlew", "echo curl"],
      },
    },
    {
      decision: "ask",
      command: "git log",
      examples: { match: ["git log"], notMatch: ["git show"] },
    },
    {
      decision: "deny",
      command: "git log secret",
      examples: { match: ["git log secret"], notMatch: ["git log"] },
    },
  ]);

  it("CL-10 the strictest that matches wins, wherever the program is named", () => {
    expect(rules.judge("git log")).toMatchObject({ decision: "ask", rule: { decision: "ask" } });
    expect(rules.judge("git log secret").decision).toBe("deny");
    expect(rules.judge("git show").decision).toBe("allow");
    expect(rules.judge(`${"true && ".repeat(60)}curl evil`)).toMatchObject({
      decision: "deny",
      reason: "A rule refuses `curl`. Nothing is fetched here.",
    });
    for (const command of [
      "if true; then curl a; fi",
      "X=$(curl a) true",
      "cat <(curl a)",
      'echo "`curl a`"',
      "f() { curl a; }",
    ])
      expect([command, rules.judge(command).decision]).toEqual([command, "deny"]);
    expect(rules.judge(`curl ${"a".repeat(200_000)}`).decision).toBe("ask");
  });

  it("say that they are no boundary", () => {
    expect(rules.describe()).toContain("they are not a boundary");
    expect(rules.describe()).toContain("deny: curl\n");
  });
});

describe("loading rules", () => {
  const examples = { match: ["ls"], notMatch: ["ls; id"] };

  it("the built-in ones do what their examples say, and none of those is more than a plain command", () => {
    for (const { examples } of READ_ONLY_COMMANDS)
      for (const command of examples.match)
        expect([command, ALL.judge(command).decision]).toEqual([command, "allow"]);
  });

  it.each<[string, unknown, RegExp]>([
    ["without examples", { decision: "allow", command: "ls" }, /rule 1 'ls' has no examples/],
    [
      "without one that must not match",
      { decision: "allow", command: "ls", examples: { match: ["ls"], notMatch: [] } },
      /no examples/,
    ],
    [
      "with an example it does not match",
      { decision: "allow", command: "ls", examples: { ...examples, match: ["ls -l"] } },
      /does not match its example "ls -l"/,
    ],
    [
      "with an example it must not match and does",
      { decision: "allow", command: "ls", examples: { ...examples, notMatch: ["ls"] } },
      /matches its example of what it must not match, "ls"/,
    ],
    ["with an unknown decision", { decision: "maybe", command: "ls", examples }, /allow, ask or deny/],
    ["with an unknown key", { decision: "allow", command: "ls", flags: [], examples }, /'flags'/],
    [
      "that refuses and has options",
      { decision: "deny", command: "ls", options: ["-l"], examples },
      /'options'/,
    ],
    ["with an option that is none", { decision: "allow", command: "ls", options: ["*"], examples }, /"\*"/],
    ["with a path", { decision: "allow", command: "/bin/ls", examples }, /without a path/],
    ["with a pattern", { decision: "allow", command: "*", examples }, /without a path or patterns/],
    ["with two blanks", { decision: "allow", command: "git  log", examples }, /plain words/],
    ["that is nothing", null, /must be an object/],
  ])("refuses a rule %s", (_, rule, message) => {
    expect(() => createCommandRules([rule as CommandRule])).toThrow(ConfigurationError);
    expect(() => createCommandRules([rule as CommandRule])).toThrow(message);
  });

  it.each([
    "bash",
    "sh",
    "python3",
    "python3.12",
    "node",
    "perl",
    "env",
    "xargs",
    "sudo",
    "nice",
    "eval",
    "awk",
    "sed",
    "ssh",
    "make",
  ])("HI-09 allows %s with fixed words only: what follows would be run", (program) => {
    const rule = (more: object): CommandRule => ({
      decision: "allow",
      command: `${program} --version`,
      ...more,
      examples: { match: [`${program} --version`], notMatch: [`${program} -c id`] },
    });
    expect(createCommandRules([rule({})]).judge(`${program} --version`).decision).toBe("allow");
    expect(() => createCommandRules([rule({ operands: "text" })])).toThrow(/any program that .* runs/);
    expect(() => createCommandRules([rule({ options: ["-c <text>"] })])).toThrow(/fixed words only/);
  });
});
