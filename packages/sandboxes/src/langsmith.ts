/** Sandboxes at LangSmith. `langsmith` is loaded when one is opened. */
import { isHandle } from "./checked-options.ts";
import {
  type LangSmithHandleOptions,
  type LangSmithSandboxOptions,
  langSmithHandle,
  langSmithSettings,
} from "./langsmith/langsmith-options.ts";
import { LangSmithProvider, ownedLangSmithSandbox } from "./langsmith/langsmith-provider.ts";
import type { SandboxProvider } from "./provider.ts";

export type {
  LangSmithCommandOptions,
  LangSmithHandleOptions,
  LangSmithSandboxOptions,
} from "./langsmith/langsmith-options.ts";

/** Makes no calls yet. A `sandbox` that the caller passes is used, and never stopped. */
export function langsmithSandbox(
  options: LangSmithSandboxOptions | LangSmithHandleOptions | null = {},
): SandboxProvider {
  if (isHandle<LangSmithHandleOptions>(options)) return ownedLangSmithSandbox(langSmithHandle(options));
  return new LangSmithProvider(langSmithSettings(options));
}
