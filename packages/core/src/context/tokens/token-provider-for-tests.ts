/** Providers that count as real ones do, with public vocabularies; and threads that grow turn by turn. */
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import type { ChatModel } from "../../loop/providers/model-source.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { CORPUS, pick, type Random } from "./corpus-for-tests.ts";
import { learnUsage, requestTokens } from "./token-meter.ts";

const scaled = (count: (text: string) => number, factor: number) => (text: string) => count(text) * factor;

export const VOCABULARIES = {
  o200k: scaled(o200k, 1),
  cl100k: scaled(cl100k, 1),
  "o200k at 1.25": scaled(o200k, 1.25),
  "cl100k at 1.25": scaled(cl100k, 1.25),
} as const;

export type Vocabulary = keyof typeof VOCABULARIES;

let models = 0;

/** A model nothing is known of. */
export function newModel(): ChatModel {
  models += 1;
  return scriptedModel([], { modelName: `unheard-of-${models}` }) as unknown as ChatModel;
}

/** A thread with one model, whose provider counts every request exactly. */
export class CountedThread {
  messages: BaseMessage[] = [];
  turns = 0;
  readonly model: ChatModel;
  private readonly counts = new WeakMap<object, number>();

  constructor(
    private readonly vocabulary: Vocabulary,
    readonly tools: readonly object[] = [],
    readonly system = new SystemMessage(
      "You are a careful assistant. Work step by step and keep your answers short.",
    ),
    model?: ChatModel,
  ) {
    this.model = model ?? newModel();
  }

  /** Size of the next request, by our count and by the provider's. */
  count(): { readonly ours: number; readonly theirs: number } {
    const { system, tools, messages, model } = this;
    return { ours: requestTokens({ system, tools, messages, model }), theirs: this.exact() };
  }

  exact(): number {
    const all = [this.system, ...this.messages, ...this.tools];
    return Math.round(all.reduce((sum, item) => sum + this.exactOf(item), 0));
  }

  /** The model answers the request with a call, and the call has this result. */
  turn(random: Random, result: string): void {
    const reply = this.reply(random);
    this.messages = [
      ...this.messages,
      reply,
      new ToolMessage({ id: `r${this.turns}`, tool_call_id: `c${this.turns}`, content: result }),
    ];
    this.turns += 1;
  }

  reply(random: Random): AIMessage {
    const reply = new AIMessage({
      id: `a${this.turns}-${random()}`,
      content: CORPUS.english(random, 20 + Math.floor(random() * 300)),
      tool_calls: [
        {
          id: `c${this.turns}`,
          name: "read_file",
          args: { file_path: `/src/${Math.floor(random() * 99)}.ts` },
        },
      ],
      usage_metadata: { input_tokens: this.exact(), output_tokens: 50, total_tokens: 50 + this.exact() },
    });
    const messages = [this.system, ...this.messages];
    learnUsage({ model: this.model, messages, tools: this.tools, settings: {} }, reply);
    return reply;
  }

  say(text: string): void {
    this.messages = [
      ...this.messages,
      new HumanMessage({ id: `h${this.turns}-${this.messages.length}`, content: text }),
    ];
  }

  private exactOf(item: object): number {
    const known = this.counts.get(item);
    if (known !== undefined) return known;
    const count = VOCABULARIES[this.vocabulary];
    const { content, tool_calls: calls } = item as AIMessage;
    const texts = content === undefined ? [JSON.stringify(item)] : [content as string];
    for (const call of calls ?? []) texts.push(call.name, JSON.stringify(call.args), "call_x8");
    const sum = texts.reduce((total, text) => total + count(text), count("user") * 4);
    this.counts.set(item, sum);
    return sum;
  }
}

const WORDS = [
  "account",
  "order",
  "index",
  "report",
  "channel",
  "ticket",
  "branch",
  "page",
  "device",
  "event",
];

/** Tools as an MCP server lists them. */
export function manyTools(random: Random, count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "function",
    function: {
      name: `${pick(random, WORDS)}_${pick(random, WORDS)}_${index}`,
      description: CORPUS.english(random, 80 + Math.floor(random() * 300)),
      parameters: {
        type: "object",
        properties: Object.fromEntries(
          Array.from({ length: 1 + Math.floor(random() * 6) }, () => [
            `${pick(random, WORDS)}_${pick(random, WORDS)}`,
            { type: pick(random, ["string", "number", "boolean"]), description: CORPUS.english(random, 60) },
          ]),
        ),
        required: [],
      },
    },
  }));
}
