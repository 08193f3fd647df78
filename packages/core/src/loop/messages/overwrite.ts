/** LangGraph's `Overwrite`: a value that replaces what a channel holds. */
import { Overwrite } from "@langchain/langgraph";

/** The value of an `Overwrite`, in either of its forms; undefined for anything else. */
export function overwritten(value: unknown): { readonly value: unknown } | undefined {
  if (value instanceof Overwrite) return { value: (value as { value?: unknown }).value };
  if (typeof value !== "object" || value === null || !("__overwrite__" in value)) return undefined;
  return { value: (value as { __overwrite__: unknown }).__overwrite__ };
}
