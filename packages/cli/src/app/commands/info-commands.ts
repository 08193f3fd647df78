/** Commands that show something: help, tokens, rules, servers, skills. */
import { grouped } from "../../terminal/amounts.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import { MODE_WORDS, MODES } from "../app-words.ts";
import { contextTokens } from "../view/panes.ts";
import type { AppCommand, CommandHost } from "./command.ts";

const KEYS: readonly (readonly [string, string])[] = [
  ["Enter", "send; while the agent works, it reads the message at its next step"],
  ["Alt-Enter, Shift-Enter", "new line; while the agent works, Alt-Enter keeps the message for afterwards"],
  ["Alt-Up", "take the last queued message back"],
  ["Esc", "stop the agent; with an open question: show it again"],
  ["Shift-Tab", "next mode: ask, accept-edits, plan, auto"],
  ["Ctrl-O", "tool calls and thoughts in full"],
  ["Ctrl-G", "write in $EDITOR"],
  ["@", "name a file; pictures are attached"],
  ["!command", "run a command in the sandbox yourself"],
  ["Ctrl-C twice, Ctrl-D", "leave"],
];

const help: AppCommand = {
  name: "help",
  description: "keys and commands",
  isQuick: true,
  run: ({ say, commands, theme, keys = KEYS }) => {
    const row = (name: string, words: string): string => `  ${theme.accent(name.padEnd(24))} ${words}`;
    say(
      ...(keys.length > 0 ? [theme.bold("Keys"), ...keys.map(([key, words]) => row(key, words)), ""] : []),
      theme.bold("Commands"),
      ...commands.map(({ name, usage = "", description }) =>
        row(`/${safeLine(`${name} ${usage}`, 40)}`, safeLine(description, 100)),
      ),
    );
  },
};

/** Letters of a token, about. */
const LETTERS = 4;

const context: AppCommand = {
  name: "context",
  description: "what fills the window",
  isQuick: true,
  run: ({ session, say, theme }) => {
    const { screen, place } = session;
    const size = { user: 0, assistant: 0, results: 0 };
    for (const { role, text, calls } of screen.main.messages) {
      const own = text.length + calls.reduce((sum, { args }) => sum + (JSON.stringify(args) ?? "").length, 0);
      if (role === "user") size.user += own;
      else size.assistant += own;
      size.results += calls.reduce((sum, { result = "" }) => sum + result.length, 0);
    }
    const tokens = (letters: number): number => Math.round(letters / LETTERS);
    const used = contextTokens(screen);
    const messages = tokens(size.user + size.assistant + size.results);
    const row = (name: string, count: number): string => `  ${name.padEnd(44)} ${grouped(count).padStart(9)}`;
    say(
      theme.bold("Tokens of the last request"),
      row("messages of yours, about", tokens(size.user)),
      row("messages of the agent, about", tokens(size.assistant)),
      row("results of tools, about", tokens(size.results)),
      ...(used > 0
        ? [
            row("instructions, tools, memory and skills: the rest", Math.max(0, used - messages)),
            row("all, as the provider counted", used),
          ]
        : [theme.dim("  The provider has not counted any tokens yet.")]),
      ...(place.window ? [row("window of the model", place.window)] : []),
    );
  },
};

const cost: AppCommand = {
  name: "cost",
  description: "tokens used in this session",
  isQuick: true,
  run: ({ session, say }) => {
    const { input, output, total } = session.screen.usage;
    say(`${grouped(input)} tokens in, ${grouped(output)} out, ${grouped(total)} in all, subagents included.`);
  },
};

const permissions: AppCommand = {
  name: "permissions",
  usage: "[forget N]",
  description: "the mode, and what runs without a question",
  isQuick: true,
  run: ({ session, say, place, theme }, words) => {
    const modes = place.local?.modes;
    const rules = modes?.rules ?? [];
    const forgotten = /^forget (\d+)$/.exec(words)?.[1];
    const rule = forgotten === undefined ? undefined : rules[Number(forgotten) - 1];
    if (rule) modes?.forget(rule);
    say(
      `Mode: ${theme.bold(session.mode)} (Shift-Tab changes it)`,
      ...(rules.length === 0 ? ["No permissions beyond the mode."] : ["These run without a question:"]),
      ...(modes?.rules ?? []).map(
        ({ tool, prefix, threadId }, i) =>
          `  ${i + 1} ${safeLine(tool, 60)}${prefix ? ` ${safeLine(prefix.join(" "), 100)} *` : ""} · ${threadId ? "in a thread" : "in this project"}`,
      ),
      ...(rules.length > 0 ? [theme.dim("  /permissions forget N takes one back for this session")] : []),
    );
  },
};

/** Known for this machine only. */
const OF_SERVER: ReadonlySet<string> = new Set(["mcp", "skills", "memory"]);

function listing(
  name: string,
  description: string,
  none: string,
  entries: (host: CommandHost) => readonly string[],
): AppCommand {
  return {
    name,
    description,
    isQuick: true,
    run: (host) => {
      const found = entries(host);
      if (found.length === 0 && !host.place.local && OF_SERVER.has(name))
        return host.say("The server does not tell this yet.");
      host.say(...(found.length > 0 ? found.map((entry) => `  ${safeLine(entry, 200)}`) : [none]));
    },
  };
}

const mcp = listing(
  "mcp",
  "tools of MCP servers",
  "There are no MCP servers: see deepwright mcp --help.",
  ({ place }) => place.local?.mcp ?? [],
);
const skills = listing(
  "skills",
  "where skills are read from",
  "There are no skills.",
  ({ place }) => place.local?.skills ?? [],
);
const memory = listing(
  "memory",
  "memory files in use",
  "There are no memory files: an AGENTS.md here would be one.",
  ({ place }) => place.local?.memory ?? [],
);
const sandbox = listing("sandbox", "where commands run", "", ({ place, directory }) => [
  place.sandbox,
  ...(place.local ? [`directory ${directory}`] : []),
]);
const agents = listing("agents", "subagents of this session", "No subagent has worked yet.", ({ session }) =>
  Object.values(session.screen.subagents).map(
    ({ name = "subagent", status, messages }) => `${name} · ${status} · ${messages.length} messages`,
  ),
);

const copy: AppCommand = {
  name: "copy",
  description: "copy the last answer to the clipboard",
  isQuick: true,
  run: ({ session, say, copy: put }) => {
    const text = session.screen.main.messages.findLast(
      ({ role, text }) => role === "assistant" && text !== "",
    )?.text;
    if (text === undefined) return say("There is no answer yet.");
    put(text);
    say("Copied, if the terminal allows it.");
  },
};

const model: AppCommand = {
  name: "model",
  usage: "[provider:model]",
  description: "show or change the model",
  run: async (host, words) => {
    if (words === "")
      return host.say(`Model: ${safeLine(host.place.model)}. To change it: /model provider:model`);
    if (!host.place.local) return host.say("The server decides which model works.");
    host.say(`Changing to ${safeLine(words, 100)} …`);
    await host.changeModel(words);
  },
};

const mode: AppCommand = {
  name: "mode",
  usage: "[ask|accept-edits|plan|auto]",
  description: "show or change what is asked about",
  isQuick: true,
  run: ({ session, say }, words) => {
    const named = MODES.find((one) => one === words);
    if (named) session.setMode(named);
    else if (words !== "") return say(`There is no mode '${safeLine(words, 40)}': ${MODES.join(", ")}.`);
    say(`Mode ${session.mode}: ${MODE_WORDS[session.mode]}.`);
  },
};

const PLAN_GO = "The plan is approved. Carry it out now.";

const approve: AppCommand = {
  name: "approve",
  usage: "[fresh]",
  description: "carry out the plan of plan mode",
  run: async ({ session, say, replay }, words) => {
    const plan = session.screen.main.messages.findLast(
      ({ role, text }) => role === "assistant" && text !== "",
    )?.text;
    if (session.mode !== "plan" || plan === undefined)
      return say("There is no plan to approve: /mode plan, then ask for one.");
    session.setMode("accept-edits");
    if (words !== "fresh") return session.say(PLAN_GO);
    session.clear();
    replay();
    await session.say(`${PLAN_GO}\n\n${plan}`);
  },
};

const SUMMARISE =
  "Summarise this conversation for somebody who goes on with it and knows nothing: the task, what was done, which files changed, what is open. Use no tools.";

const compact: AppCommand = {
  name: "compact",
  description: "go on in a new thread with a summary of this one",
  run: async ({ session, say, replay }) => {
    if (session.isEmpty) return say("There is nothing to compact.");
    await session.say(SUMMARISE);
    await session.idle();
    const { main, run } = session.screen;
    const last = main.messages.at(-1);
    if (run.status !== "success" || session.isWaiting || last?.role !== "assistant" || last.text === "")
      return say("The agent gave no summary; the thread stays as it is.");
    session.clear();
    session.prefaces.push(`Summary of the conversation so far:\n\n${last.text}`);
    replay();
    say("This is a new thread. Your next message goes with the summary.");
  },
};

const quit: AppCommand = { name: "quit", description: "leave", isQuick: true, run: ({ leave }) => leave() };

export const INFO_COMMANDS: readonly AppCommand[] = [
  ...[mode, model, approve, compact, context, cost, permissions],
  ...[sandbox, mcp, skills, agents, memory, copy, help, quit],
];
