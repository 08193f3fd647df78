/** `withStructuredOutput` for a model whose answers are scripted. */
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import {
  assembleStructuredOutputPipeline,
  createContentParser,
  createFunctionCallingParser,
} from "@langchain/core/language_models/structured_output";
import { AIMessage } from "@langchain/core/messages";
import { type Runnable, RunnableLambda } from "@langchain/core/runnables";
import { toJsonSchema } from "@langchain/core/utils/json_schema";

export interface StructuredOutputConfig {
  /** The tool's name; default: the schema's `title` or `name`, else "extract". */
  readonly name?: string;
  readonly method?: string;
  readonly includeRaw?: boolean;
  readonly strict?: boolean;
}

type ToolBinder = Pick<BaseChatModel, "bindTools">;

/** Binds the schema as a tool; the script may call that tool or just say the JSON. */
export function structuredOutput(
  model: ToolBinder,
  schema: any,
  config: StructuredOutputConfig = {},
): Runnable<BaseLanguageModelInput, any> {
  const parameters = toJsonSchema(schema) as { title?: string; name?: string; description?: string };
  const name = config.name ?? parameters.title ?? parameters.name ?? "extract";
  const description = parameters.description ?? "The answer.";
  const definition = { type: "function", function: { name, description, parameters } };
  const bound = model.bindTools?.([definition], { tool_choice: name });
  if (bound === undefined) throw new TypeError("structuredOutput expected a model that can bind tools.");
  const fromCall = createFunctionCallingParser(schema, name);
  const fromText = createContentParser(schema);
  const parser = RunnableLambda.from((message: AIMessage, runConfig) => {
    const called = AIMessage.isInstance(message) && (message.tool_calls ?? []).length > 0;
    return called ? fromCall.invoke(message, runConfig) : fromText.invoke(message, runConfig);
  });
  return assembleStructuredOutputPipeline(bound, parser, config.includeRaw, "StructuredOutput");
}
