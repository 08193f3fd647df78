/** Commands about tokens, money and the model that uses them. */
import type { Screen } from "@deepwright/protocol";
import { grouped } from "../../terminal/amounts.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import { errorWords } from "../app-words.ts";
import { Picker } from "../panels/picker.ts";
import { spendingOf } from "../session/spending.ts";
import { contextTokens } from "../view/panes.ts";
import type { AppCommand, CommandHost } from "./command.ts";
import { modelItems } from "./model-items.ts";

/** A row of costs fits 80 columns. */
const [AGENT_WIDTH, MODEL_WIDTH] = [16, 19];

/** Letters of a token, about. */
const LETTERS = 4;

/** Tokens of the conversation by who wrote them, estimated. */
function conversationTokens({ main }: Screen): { user: number; assistant: number; results: number } {
  const size = { user: 0, assistant: 0, results: 0 };
  for (const { role, text, calls } of main.messages) {
    const own = text.length + calls.reduce((sum, { args }) => sum + (JSON.stringify(args) ?? "").length, 0);
    if (role === "user") size.user += own;
    else size.assistant += own;
    size.results += calls.reduce((sum, { result = "" }) => sum + result.length, 0);
  }
  const tokens = (letters: number): number => Math.round(letters / LETTERS);
  return { user: tokens(size.user), assistant: tokens(size.assistant), results: tokens(size.results) };
}

const context: AppCommand = {
  name: "context",
  description: "what fills the window, by source",
  isQuick: true,
  run: async ({ session, say, theme, place }) => {
    const { screen } = session;
    const size = conversationTokens(screen);
    const used = contextTokens(screen);
    const sources = await place.sources();
    const parts: readonly (readonly [string, number])[] = [
      ...(sources
        ? ([
            ["instructions", sources.prompt],
            ["tools", sources.tools],
            ["tools of MCP servers", sources.mcp],
            ...(sources.memory === undefined ? [] : [["memory files", sources.memory] as const]),
          ] as const)
        : []),
      ["messages of yours", size.user],
      ["messages of the agent", size.assistant],
      ["results of tools", size.results],
    ];
    const known = parts.reduce((sum, [, count]) => sum + count, 0);
    const row = (name: string, count: number): string => `  ${name.padEnd(34)} ${grouped(count).padStart(9)}`;
    say(
      theme.bold("Tokens of a request, estimated"),
      ...parts.map(([name, count]) => row(name, count)),
      ...(used > 0
        ? [
            row(
              sources ? "skills and other reminders: the rest" : "instructions and tools: the rest",
              Math.max(0, used - known),
            ),
            row("the last request, as counted", used),
          ]
        : [theme.dim("  The provider has not counted any tokens yet.")]),
      ...(place.window ? [row("window of the model", place.window)] : []),
    );
  },
};

const cost: AppCommand = {
  name: "cost",
  description: "tokens and money by agent and model",
  isQuick: true,
  run: ({ session, say, theme, place }) => {
    const spending = spendingOf(session.screen, place.model);
    if (spending.length === 0) return say("No tokens were used yet.");
    const costs = spending.map(({ usage, model }) => place.costOf(usage, model));
    say(
      theme.bold(row(["agent", "model", "in", "cached", "out", "cost"])),
      ...spending.map(({ agent, model, usage }, i) =>
        row([
          safeLine(agent, AGENT_WIDTH),
          safeLine(model, MODEL_WIDTH),
          grouped(usage.input),
          grouped(usage.cached ?? 0),
          grouped(usage.output),
          money(costs[i]),
        ]),
      ),
      ...(costs.some((one) => one === undefined)
        ? [theme.dim("  ?: the price of the model is not known.")]
        : [`  Together ${money(costs.reduce<number>((sum, one) => sum + (one ?? 0), 0))}`]),
    );
  },
};

function row([agent = "", model = "", ...amounts]: readonly string[]): string {
  return `  ${agent.padEnd(AGENT_WIDTH)} ${model.padEnd(MODEL_WIDTH)} ${amounts.map((one) => one.padStart(9)).join(" ")}`;
}

function money(dollars: number | undefined): string {
  return dollars === undefined ? "?" : `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;
}

const model: AppCommand = {
  name: "model",
  usage: "[provider:model]",
  description: "choose another model, also of a server on this machine",
  run: async (host, words) => {
    if (!host.place.local) return modelOfServer(host, words);
    if (words !== "") return changed(host, words);
    host.say(host.theme.dim("Looking for models…"));
    host.show(
      new Picker({
        title: "Models (also: /model provider:model)",
        items: await modelItems(host.place.model, process.env),
        theme: host.theme,
        onClose: host.closePanel,
        onPick: (name) => {
          host.closePanel();
          if (name !== host.place.model)
            void changed(host, name).catch((error: Error) => host.say(host.theme.bad(errorWords(error))));
        },
      }),
    );
  },
};

/** The server says which models its runs can be begun with. */
function modelOfServer({ place, session, say, show, closePanel, theme }: CommandHost, words: string): void {
  const { models = [], model: own } = place;
  if (models.length === 0) {
    say("The server decides which model works.");
    return;
  }
  const choose = (name: string): void => {
    session.model = name === own ? undefined : name;
    say(`From the next message on: ${safeLine(name, 100)}`);
  };
  const names = [own, ...models];
  if (words !== "") {
    if (names.includes(words)) choose(words);
    else say(`The server does not offer ${safeLine(words, 100)}. /model lists what it offers.`);
    return;
  }
  const items = names.map((value) => ({
    value,
    label: safeLine(value, 60),
    description: value === (session.model ?? own) ? "in use" : "",
  }));
  const onPick = (name: string): void => {
    closePanel();
    choose(name);
  };
  show(new Picker({ title: "Models of the server", items, theme, onClose: closePanel, onPick }));
}

async function changed(host: CommandHost, name: string): Promise<void> {
  host.say(`Changing to ${safeLine(name, 100)}…`);
  await host.changeModel(name);
}

export const TOKEN_COMMANDS: readonly AppCommand[] = [model, context, cost];
