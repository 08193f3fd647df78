/** Commands that show something: help, tokens, rules, servers, skills. */
import { count } from "../../terminal/amounts.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import { MODE_WORDS, MODES, NO_MODES } from "../app-words.ts";
import { ACTION_NAMES, ACTIONS, type Keybindings, keyWords } from "../keys/bindings.ts";
import { stateWords } from "../view/panes.ts";
import type { AppCommand, CommandHost } from "./command.ts";

/** Keys with their words; those of the settings instead of ours. */
function keyRows(bindings: Keybindings): readonly (readonly [string, string])[] {
  return [
    ["Enter", "send; while the agent works, it reads the message at its next step"],
    ["Shift-Enter", "new line"],
    ["Esc", "stop the agent; with an open question: show it again"],
    ...ACTION_NAMES.map((name) => [keyWords(name, bindings) || "(no key)", ACTIONS[name].words] as const),
    ["@", "name a file; pictures are attached"],
    ["!command", "run a command in the sandbox yourself"],
    ["Ctrl-C", "clear the input, stop the agent; twice: leave"],
  ];
}

const help: AppCommand = {
  name: "help",
  description: "keys and commands",
  isQuick: true,
  run: ({ say, commands, theme, keybindings }) => {
    const keys = keybindings ? keyRows(keybindings) : [];
    const row = (name: string, words: string): string =>
      `  ${theme.accent(name)}${" ".repeat(Math.max(24 - name.length, 0))} ${words}`;
    say(
      ...(keys.length > 0 ? [theme.bold("Keys"), ...keys.map(([key, words]) => row(key, words)), ""] : []),
      theme.bold("Commands"),
      ...commands.map(({ name, usage = "", description }) =>
        row(`/${safeLine(`${name} ${usage}`, 40)}`, safeLine(description, 100)),
      ),
    );
  },
};

const permissions: AppCommand = {
  name: "permissions",
  usage: "[forget N]",
  description: "the mode, and what runs without a question",
  isQuick: true,
  run: async ({ session, say, place, theme }, words) => {
    const forgotten = /^forget (\d+)$/.exec(words)?.[1];
    const rule = forgotten === undefined ? undefined : session.allowed[Number(forgotten) - 1];
    if (rule) await session.forget(rule);
    const rules = session.allowed;
    say(
      `Mode: ${theme.bold(session.mode)} (Shift-Tab changes it)`,
      ...(rules.length === 0 ? ["No permissions beyond the mode."] : ["These run without a question:"]),
      ...rules.map(
        ({ tool, prefix, threadId }, i) =>
          `  ${i + 1} ${safeLine(tool, 60)}${prefix ? ` ${safeLine(prefix.join(" "), 100)} *` : ""} · ${threadId || !place.local ? "in a thread" : "in this project"}`,
      ),
      ...(rules.length > 0 ? [theme.dim("  /permissions forget N takes one back")] : []),
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
  place.local?.commandsLine ?? place.sandbox,
  ...(place.local ? [`directory ${directory}`] : []),
]);
const agents = listing(
  "agents",
  "subagents: your own, and those that have worked",
  "No subagent has worked yet.",
  ({ session, place }) => [
    ...(place.local?.agents ?? []).map(({ name, description }) => `${name}: ${description}`),
    ...Object.values(session.screen.subagents).map(
      (agent) =>
        `${agent.name ?? "subagent"} ${stateWords(agent)} · ${count(agent.messages.length, "message")}`,
    ),
  ],
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

const mode: AppCommand = {
  name: "mode",
  usage: "[mode]",
  description: "show or change what is asked about",
  isQuick: true,
  run: ({ session, say, place }, words) => {
    if (!place.hasModes) return say(NO_MODES);
    const named = MODES.find((one) => one === words);
    if (named) session.setMode(named);
    else if (words !== "") return say(`There is no mode '${safeLine(words, 40)}': ${MODES.join(", ")}.`);
    say(`Mode ${session.mode}: ${MODE_WORDS[session.mode]}.`);
    if (words === "")
      say(...MODES.filter((one) => one !== session.mode).map((one) => `  /mode ${one}: ${MODE_WORDS[one]}`));
  },
};

const quit: AppCommand = { name: "quit", description: "leave", isQuick: true, run: ({ leave }) => leave() };

export const INFO_COMMANDS: readonly AppCommand[] = [
  ...[mode, permissions],
  ...[sandbox, mcp, skills, agents, memory, copy, help, quit],
];
