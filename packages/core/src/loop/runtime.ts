/** The `runtime` that LangChain's middleware contract promises to hooks and wrappers. */
import { interopParse, isInteropZodSchema } from "@langchain/core/utils/types";
import type { AgentMiddleware } from "langchain";
import type { TaskConfig } from "../engine.ts";

export function runtimeFor(
  middleware: AgentMiddleware | undefined,
  config: TaskConfig,
): Record<string, unknown> {
  return Object.freeze({
    context: contextFor(middleware?.contextSchema, config.context),
    store: config.store,
    configurable: config.configurable,
    writer: config.writer,
    interrupt: config.interrupt,
    signal: config.signal,
  });
}

const parsedContexts = new WeakMap<object, WeakMap<object, unknown>>();
const NO_CONTEXT = {};

/** Parsed once per schema and context object; without a schema the caller's context as it is. */
export function contextFor(schema: unknown, context: unknown): unknown {
  if (typeof schema !== "object" || schema === null || !isInteropZodSchema(schema)) return context;
  const source = typeof context === "object" && context !== null ? context : NO_CONTEXT;
  const bySchema = parsedContexts.get(source) ?? new WeakMap<object, unknown>();
  parsedContexts.set(source, bySchema);
  if (!bySchema.has(schema)) bySchema.set(schema, interopParse(schema, context ?? {}));
  return bySchema.get(schema);
}
