/**
 * Structured output: the agent's answer as data of a given shape.
 *
 * There are two ways: the model calls a tool that stands for the answer, or the provider itself answers in the schema.
 * For a bare schema the abilities of the model decide. A bad answer goes back to the model with the reason, a bounded
 * number of times.
 */
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  type InvalidToolCall,
  ToolMessage,
} from "@langchain/core/messages";
import { toJsonSchema, Validator } from "@langchain/core/utils/json_schema";
import { interopSafeParse, isInteropZodSchema } from "@langchain/core/utils/types";
import { ConfigurationError, DeepwrightError } from "../../errors.ts";
import { type Messages, newId } from "../messages/messages.ts";
import { type OutcomeKind, outcomeOf } from "../messages/outcome.ts";
import type { ChatModel } from "../providers/model-source.ts";
import { withoutNulls } from "../providers/strict-schema.ts";
import { describeIssues } from "./channels.ts";

/** How often in a row the model may give an answer that does not fit. */
export const MAX_STRUCTURED_ATTEMPTS = 3;
const FAILED = "deepwright_structured_output_failed";

type Parsed = { readonly value: unknown } | { readonly problem: string };
type JsonSchema = Record<string, unknown>;

/** An answer given by calling a tool of this name. */
export interface AnswerTool {
  readonly name: string;
  readonly definition: {
    type: "function";
    function: { name: string; description: string; parameters: JsonSchema };
  };
  readonly parse: (args: unknown) => Parsed;
  readonly handleError?: boolean | string | ((error: Error) => string | Promise<string>) | readonly unknown[];
  readonly toolMessageContent?: string;
}

/** An answer the provider gives in the schema itself, as text. */
export interface ProviderAnswer {
  readonly schema: JsonSchema;
  readonly strict: boolean;
  readonly parse: (message: AIMessage) => Parsed;
}

export type ResolvedStrategy =
  | { readonly kind: "tools"; readonly tools: readonly AnswerTool[] }
  | { readonly kind: "provider"; readonly answer: ProviderAnswer };

export interface ResponseStrategy {
  /** The tools that stand for the answer; other tools cannot have their names. */
  readonly toolNames: readonly string[];
  resolve(model: ChatModel): ResolvedStrategy;
}

/** Reads the option `responseFormat` once; throws INVALID_OPTION for an unknown form. */
export function responseStrategy(format: unknown): ResponseStrategy | undefined {
  if (format === undefined || format === null) return undefined;
  const list = Array.isArray(format) ? format : [format];
  if (list.length === 0) return undefined;
  if (list.every(isToolStrategy)) {
    const tools = list.map(fromToolStrategy);
    return { toolNames: tools.map(({ name }) => name), resolve: () => ({ kind: "tools", tools }) };
  }
  if (list.length === 1 && isProviderStrategy(list[0])) {
    const answer = fromProviderStrategy(list[0]);
    return { toolNames: [], resolve: () => ({ kind: "provider", answer }) };
  }
  if (!list.every((item) => typeof item === "object" && item !== null && !isProviderStrategy(item)))
    throw new ConfigurationError(
      "INVALID_OPTION",
      "The option 'responseFormat' is not a schema or a strategy.",
      {
        hint: "Pass a zod schema, a JSON schema, toolStrategy(...) or providerStrategy(...).",
      },
    );
  return bareSchemas(list as object[]);
}

function bareSchemas(schemas: readonly object[]): ResponseStrategy {
  const tools = schemas.map((schema, i) => answerTool(schema, schemas.length > 1 ? `_${i + 1}` : ""));
  const only = schemas.length === 1 ? (schemas[0] as object) : undefined;
  let answer: ProviderAnswer | undefined;
  return {
    toolNames: tools.map(({ name }) => name),
    resolve(model) {
      const profile = (model as { profile?: { structuredOutput?: boolean } }).profile;
      if (!only || !profile?.structuredOutput) return { kind: "tools", tools };
      answer ??= providerAnswer(only);
      return { kind: "provider", answer };
    },
  };
}

interface LangChainToolStrategy {
  readonly name: string;
  readonly tool: AnswerTool["definition"];
  readonly options?: { handleError?: AnswerTool["handleError"]; toolMessageContent?: string };
  parse(args: unknown): unknown;
}

interface LangChainProviderStrategy {
  readonly schema: JsonSchema;
  readonly strict?: boolean;
  parse(message: AIMessage): unknown;
}

function isToolStrategy(item: unknown): item is LangChainToolStrategy {
  const { tool, parse } = (item ?? {}) as Partial<LangChainToolStrategy>;
  return typeof parse === "function" && typeof tool === "object" && tool?.type === "function";
}

function isProviderStrategy(item: unknown): item is LangChainProviderStrategy {
  const { schema, strict, parse } = (item ?? {}) as Partial<LangChainProviderStrategy>;
  return typeof parse === "function" && typeof schema === "object" && typeof strict === "boolean";
}

function fromToolStrategy(strategy: LangChainToolStrategy): AnswerTool {
  const { handleError, toolMessageContent } = strategy.options ?? {};
  return {
    name: strategy.name,
    definition: strategy.tool,
    parse: (args) => attempt(() => strategy.parse(withoutNulls(strategy.tool.function.parameters, args))),
    ...(handleError === undefined ? {} : { handleError }),
    ...(toolMessageContent === undefined ? {} : { toolMessageContent }),
  };
}

function fromProviderStrategy(strategy: LangChainProviderStrategy): ProviderAnswer {
  return {
    schema: strategy.schema,
    strict: strategy.strict ?? true,
    parse: (message) => {
      const value = strategy.parse(message);
      return value === undefined ? parseText(message, validatorFor(strategy.schema)) : { value };
    },
  };
}

function attempt(body: () => unknown): Parsed {
  try {
    return { value: body() };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function answerTool(schema: object, suffix: string): AnswerTool {
  const parameters = toJsonSchema(schema as never) as JsonSchema;
  const name =
    typeof parameters.title === "string" ? toolName(parameters.title) : `structured_response${suffix}`;
  const description =
    typeof parameters.description === "string"
      ? parameters.description
      : "Give the final answer in this form.";
  return {
    name,
    definition: { type: "function", function: { name, description, parameters } },
    parse: parserFor(schema, parameters),
  };
}

function toolName(title: string): string {
  return title.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 64);
}

function providerAnswer(schema: object): ProviderAnswer {
  const json = toJsonSchema(schema as never) as JsonSchema;
  const parse = parserFor(schema, json);
  return { schema: json, strict: true, parse: (message) => parseText(message, parse) };
}

function parserFor(schema: object, json: JsonSchema): (value: unknown) => Parsed {
  if (!isInteropZodSchema(schema)) return validatorFor(json);
  return (value) => {
    const result = interopSafeParse(schema as never, withoutNulls(json, value));
    return result.success ? { value: result.data } : { problem: describeIssues(result.error.issues) };
  };
}

function validatorFor(json: JsonSchema): (value: unknown) => Parsed {
  return (given) => {
    const value = withoutNulls(json, given);
    const result = new Validator(json as never).validate(value);
    return result.valid ? { value } : { problem: result.errors.map((e) => e.error).join("; ") };
  };
}

function parseText(message: AIMessage, parse: (value: unknown) => Parsed): Parsed {
  const text = message.text.trim();
  if (text === "") return { problem: "the answer is empty" };
  try {
    return parse(JSON.parse(text));
  } catch (error) {
    return { problem: `the answer is not JSON (${(error as Error).message})` };
  }
}

/** Options that this strategy needs when the model is bound. */
export function bindingOptions(
  strategy: ResolvedStrategy,
  settings: Record<string, unknown>,
): { tools: AnswerTool["definition"][]; options: Record<string, unknown> } {
  if (strategy.kind === "tools")
    return { tools: strategy.tools.map((tool) => tool.definition), options: { tool_choice: "any" } };
  const { schema, strict } = strategy.answer;
  const name = typeof schema.name === "string" ? schema.name : "extract";
  return {
    tools: [],
    options: providerOptions(name, schema, (settings.strict as boolean | undefined) ?? strict),
  };
}

const strictOptions = new WeakMap<JsonSchema, Record<string, unknown>>();
const looseOptions = new WeakMap<JsonSchema, Record<string, unknown>>();

/** The same object for the same schema, so that the bound model can be kept between turns. */
function providerOptions(name: string, schema: JsonSchema, strict: boolean): Record<string, unknown> {
  const cache = strict ? strictOptions : looseOptions;
  const known = cache.get(schema);
  if (known) return known;
  const description = typeof schema.description === "string" ? { description: schema.description } : {};
  const options = {
    response_format: { type: "json_schema", json_schema: { name, ...description, schema, strict } },
    outputConfig: { format: { type: "json_schema", schema } },
    responseSchema: schema,
    ls_structured_output_format: { kwargs: { method: "json_schema" }, schema },
  };
  cache.set(schema, options);
  return options;
}

export type StructuredResult =
  /** Not an answer: the turn goes on as usual. */
  | { readonly kind: "none" }
  | { readonly kind: "answer"; readonly value: unknown; readonly messages: readonly BaseMessage[] }
  /** Answers to structured calls that cannot be accepted, by call id; the other calls of the turn run. */
  | { readonly kind: "refused"; readonly answers: ReadonlyMap<string, string> }
  /** A reply in words that does not fit: these messages tell the model. */
  | { readonly kind: "again"; readonly messages: readonly BaseMessage[] };

/** Looks for a structured answer in a reply. Throws once the model failed too often in a row. */
export async function readStructured(
  strategy: ResolvedStrategy,
  reply: AIMessage,
  history: Messages,
): Promise<StructuredResult> {
  return strategy.kind === "tools"
    ? readAnswerCalls(strategy.tools, reply, history)
    : readProviderAnswer(strategy.answer, reply, history);
}

async function readAnswerCalls(
  tools: readonly AnswerTool[],
  reply: AIMessage,
  history: Messages,
): Promise<StructuredResult> {
  const calls = reply.tool_calls ?? [];
  const answers = calls.filter((call) => tools.some((tool) => tool.name === call.name));
  const first = answers[0];
  if (first === undefined) return calls.length > 0 ? { kind: "none" } : readWords(tools, reply, history);
  const refuse = (words: string): StructuredResult => ({
    kind: "refused",
    answers: new Map(answers.map((call) => [call.id as string, words])),
  });
  if (calls.length > answers.length)
    return refuse("Give the final answer alone, after the results of the other tools have come back.");
  const tool = tools.find((candidate) => candidate.name === first.name) as AnswerTool;
  const invalid = reply.invalid_tool_calls?.find((call) => call.id === first.id)?.error;
  const parsed: Parsed =
    answers.length > 1
      ? { problem: `${answers.length} answers were given; exactly one is wanted` }
      : invalid !== undefined
        ? { problem: invalid }
        : tool.parse(first.args);
  if ("value" in parsed)
    return { kind: "answer", value: parsed.value, messages: closing(tool, first, parsed.value) };
  return refuse(await complaint(tool, parsed.problem, history));
}

/** The answer must come as a call. A reply that stopped for a reason of its own is no answer at all. */
function readWords(tools: readonly AnswerTool[], reply: AIMessage, history: Messages): StructuredResult {
  if (STOPPED.has(outcomeOf(reply).kind)) return { kind: "none" };
  const names = tools.map(({ name }) => `'${name}'`).join(" or ");
  const problem = `the answer must be given by calling ${names}`;
  if (tools.some(({ handleError }) => handleError === false)) throw misfit(problem);
  giveUpAfter(history, problem);
  return again(`${misfit(problem).message} Do so now.`);
}

const STOPPED: ReadonlySet<OutcomeKind> = new Set(["length", "content_filter", "refusal"]);

function misfit(problem: string): DeepwrightError {
  return new DeepwrightError("STRUCTURED_OUTPUT_FAILED", `The answer does not fit its schema: ${problem}.`);
}

function again(content: string): StructuredResult {
  const message = new HumanMessage({ id: newId(), content, additional_kwargs: { [FAILED]: true } });
  return { kind: "again", messages: [message] };
}

/** The call gets its result, and the thread ends with a word of the assistant, as a run should. */
function closing(tool: AnswerTool, call: { id?: string }, value: unknown): BaseMessage[] {
  const content = JSON.stringify(value);
  return [
    new ToolMessage({ id: newId(), tool_call_id: call.id ?? "", name: tool.name, content }),
    new AIMessage({
      id: newId(),
      content: tool.toolMessageContent ?? `Returning structured response: ${content}`,
    }),
  ];
}

async function complaint(tool: AnswerTool, problem: string, history: Messages): Promise<string> {
  const { handleError } = tool;
  const error = misfit(problem);
  if (handleError === false) throw error;
  giveUpAfter(history, problem);
  if (typeof handleError === "string") return handleError;
  if (typeof handleError === "function") return handleError(error);
  return `${error.message} Correct it and answer again.`;
}

function readProviderAnswer(answer: ProviderAnswer, reply: AIMessage, history: Messages): StructuredResult {
  if ((reply.tool_calls ?? []).length > 0 || STOPPED.has(outcomeOf(reply).kind)) return { kind: "none" };
  const parsed = answer.parse(reply);
  if ("value" in parsed) return { kind: "answer", value: parsed.value, messages: [] };
  giveUpAfter(history, parsed.problem);
  return again(`${misfit(parsed.problem).message} Answer again with JSON of the required form only.`);
}

/** A call that stands for an answer and was refused, noted in its message beside calls that cannot run. */
export function refusedAnswer(call: { id?: string; name: string }, error: string): InvalidToolCall {
  const noted = { id: call.id, name: call.name, error, args: "", type: "invalid_tool_call", answer: true };
  return noted as InvalidToolCall;
}

export function isRefusedAnswer(message: AIMessage, callId: string): boolean {
  const noted = message.invalid_tool_calls?.find((call) => call.id === callId);
  return (noted as { answer?: boolean } | undefined)?.answer === true;
}

/** Marks a message as the answer to a failed attempt, so that attempts can be counted after a crash too. */
export function markFailedAnswer(message: ToolMessage): ToolMessage {
  message.additional_kwargs = { ...message.additional_kwargs, [FAILED]: true };
  return message;
}

export function isFailedAnswer(message: BaseMessage | undefined): boolean {
  return (message?.additional_kwargs as Record<string, unknown> | undefined)?.[FAILED] === true;
}

function giveUpAfter(history: Messages, problem: string): void {
  let failed = 0;
  for (let i = history.length - 1; i >= 0 && failed < MAX_STRUCTURED_ATTEMPTS; i -= 1) {
    const message = history[i] as BaseMessage;
    if (message.getType() === "ai") continue;
    if (!isFailedAnswer(message)) break;
    failed += 1;
  }
  if (failed + 1 < MAX_STRUCTURED_ATTEMPTS) return;
  throw new DeepwrightError(
    "STRUCTURED_OUTPUT_FAILED",
    `The model gave no valid structured answer in ${MAX_STRUCTURED_ATTEMPTS} attempts: ${problem}.`,
    { hint: "Simplify the schema, describe its fields, or use another model." },
  );
}
