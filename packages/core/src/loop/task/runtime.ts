/** The `runtime` that LangChain's middleware contract promises to hooks and wrappers. */
import {
  getInteropZodObjectShape,
  type InteropZodObject,
  type InteropZodType,
  interopSafeParse,
  isInteropZodObject,
  isInteropZodSchema,
} from "@langchain/core/utils/types";
import type { AgentMiddleware } from "langchain";
import type { TaskConfig } from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import { describeIssues } from "../contract/channels.ts";

export function runtimeFor(
  middleware: AgentMiddleware | undefined,
  config: TaskConfig,
): Record<string, unknown> {
  return Object.freeze({
    context: contextFor(middleware, config.context),
    store: config.store,
    configurable: config.configurable,
    writer: config.writer,
    interrupt: config.interrupt,
    signal: config.signal,
  });
}

const parsedContexts = new WeakMap<object, WeakMap<object, unknown>>();
const NO_CONTEXT = Object.freeze({});

/** Parsed once per schema and context object; without a schema the caller's context, unchanged. */
function contextFor(middleware: AgentMiddleware | undefined, given: unknown): unknown {
  const context = given ?? NO_CONTEXT;
  const schema = middleware?.contextSchema as unknown;
  if (typeof schema !== "object" || schema === null || !isInteropZodSchema(schema)) return context;
  const source = typeof context === "object" ? context : NO_CONTEXT;
  const bySchema = parsedContexts.get(source) ?? new WeakMap<object, unknown>();
  parsedContexts.set(source, bySchema);
  if (!bySchema.has(schema))
    bySchema.set(schema, parseContext(schema, source, `middleware '${middleware?.name}'`));
  return bySchema.get(schema);
}

/**
 * The caller's context with the defaults of the agent's schema. Keys that the schema does not have are kept for
 * middleware.
 */
export function agentContext(schema: unknown, given: unknown): unknown {
  if (typeof schema !== "object" || schema === null || !isInteropZodSchema(schema)) return given;
  const context = typeof given === "object" && given !== null ? given : NO_CONTEXT;
  return { ...context, ...(parseContext(schema, context, "the agent") as object) };
}

/** A reader of the context sees the part its schema names; the rest belongs to others. */
function parseContext(schema: InteropZodType, context: object, reader: string): unknown {
  const result = interopSafeParse(schema, isInteropZodObject(schema) ? relevant(schema, context) : context);
  if (result.success) return result.data;
  throw new DeepwrightError(
    "INVALID_INPUT",
    `The context does not fit the contextSchema of ${reader}: ${describeIssues(result.error.issues)}.`,
    { hint: "Pass it as an option of the run: agent.invoke(input, {context: {...}})." },
  );
}

function relevant(schema: InteropZodObject, context: object): Record<string, unknown> {
  const keys = Object.keys(getInteropZodObjectShape(schema)).filter((key) => key in context);
  return Object.fromEntries(keys.map((key) => [key, (context as Record<string, unknown>)[key]]));
}
