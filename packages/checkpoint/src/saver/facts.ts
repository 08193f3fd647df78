/** Facts of a checkpoint that the list of threads shows. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type { Checkpoint } from "@langchain/langgraph-checkpoint";
import { isMessage } from "../content/messages.ts";
import type { FactChanges } from "../storage/storage.ts";

const MOST_CHARACTERS = 200;
/** Postgres refuses a row whose indexed texts are much longer. */
const MOST_INDEXED_BYTES = 1_024;

/** Facts of the root namespace that differ from `known`, the facts already stored. */
export function factChanges(
  config: RunnableConfig,
  checkpoint: Checkpoint,
  known: FactChanges,
): FactChanges | undefined {
  const { messages } = checkpoint.channel_values as { messages?: unknown };
  const list: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const { title, cwd } = (config.metadata ?? {}) as { title?: unknown; cwd?: unknown };
  const all: FactChanges = {
    messageCount: list.length,
    firstPrompt: known.firstPrompt ?? firstPrompt(list),
    model: modelOf(list) ?? known.model,
    title: shortText(title) ?? known.title,
    cwd: typeof cwd === "string" && isIndexable(cwd) ? clean(cwd) : known.cwd,
  };
  const news = Object.entries(all).filter(
    ([key, value]) => value !== undefined && value !== known[key as keyof FactChanges],
  );
  return news.length > 0 ? (Object.fromEntries(news) as FactChanges) : undefined;
}

/** A longer one is left out: a part of it would be another directory. */
export function isIndexable(cwd: string): boolean {
  return Buffer.byteLength(cwd) <= MOST_INDEXED_BYTES;
}

/** A thread without a question must not be searched whole at every step. */
const LOOK_AHEAD = 8;

function firstPrompt(messages: readonly unknown[]): string | undefined {
  const first = messages
    .slice(0, LOOK_AHEAD)
    .find((message) => typeof message === "object" && message && typeOf(message) === "human");
  return first ? shortText(textOf((first as { content?: unknown }).content)) : undefined;
}

function typeOf(message: object): unknown {
  return isMessage(message) ? message.type : (message as { type?: unknown }).type;
}

function textOf(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  return content.map((block) => (typeof block?.text === "string" ? block.text : "")).join(" ");
}

const LOOK_BACK = 4;

/** The model that answered last, if one of the last few messages names it. */
function modelOf(messages: readonly unknown[]): string | undefined {
  for (const message of messages.slice(-LOOK_BACK).reverse()) {
    const name = (message as { response_metadata?: { model_name?: unknown; model?: unknown } } | null)
      ?.response_metadata;
    const model = name?.model_name ?? name?.model;
    if (typeof model === "string" && model !== "") return clean(model).slice(0, MOST_CHARACTERS);
  }
  return undefined;
}

function shortText(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  const line = clean(text.slice(0, 4 * MOST_CHARACTERS))
    .replaceAll(/\s+/g, " ")
    .trim();
  return line === "" ? undefined : Array.from(line).slice(0, MOST_CHARACTERS).join("");
}

/** Postgres keeps no NUL in a text, and no database half of a pair. */
function clean(text: string): string {
  return text.toWellFormed().replaceAll("\0", "");
}
