/** The options of summaries, and their checks. */
import type { BaseLanguageModel } from "@langchain/core/language_models/base";
import { checkBackend } from "../backends/check-backend.ts";
import type { BackendSource } from "../backends/resolve.ts";
import { checkNames } from "../check-options.ts";
import type { ContextSize, ContextSizes } from "../context/tokens/budget.ts";
import { checkDurations } from "../duration.ts";
import { ConfigurationError } from "../errors.ts";
import { canonicalPath } from "../paths.ts";

/** How old arguments of write_file and edit_file are shortened; null means absent. */
export interface TruncateArgsSettings {
  /** When to do so even though the request still fits; default: only when it does not. */
  readonly trigger?: ContextSize | null;
  /** The newest part of the conversation that is left alone; default as for summaries. */
  readonly keep?: ContextSize | null;
  /** Characters an argument may have; default 2000. */
  readonly maxLength?: number | null;
  /** Text in place of the rest of an argument. */
  readonly truncationText?: string | null;
}

/** null means absent. */
export interface SummarizationMiddlewareOptions {
  /** Model that summarizes; default: the model of the request. */
  readonly model?: string | BaseLanguageModel | null;
  /** The backend for the record of removed messages; default: the agent's, or else the state of the thread. */
  readonly backend?: BackendSource | null;
  /** Any of several; default 85 % of the window. */
  readonly trigger?: ContextSizes | null;
  /** Amount of the newest part that stays; default 10 % of the window. */
  readonly keep?: ContextSize | null;
  /** Replaces our words; the conversation goes where `{messages}` stands, or else behind them. */
  readonly summaryPrompt?: string | null;
  /** Most tokens of removed messages that the summariser reads, the newest ones; default: all. */
  readonly trimTokensToSummarize?: number | null;
  /** The directory of the record; default `/conversation_history`, or the harness's own where paths are real. */
  readonly historyPathPrefix?: string | null;
  readonly truncateArgsSettings?: TruncateArgsSettings | null;
  /** Seconds a call of the summariser may take before a mechanical digest takes its place; default 120. */
  readonly summaryTimeout?: number | null;
}

const OPTION_NAMES = [
  "model",
  "backend",
  "trigger",
  "keep",
  "summaryPrompt",
  "trimTokensToSummarize",
  "historyPathPrefix",
  "truncateArgsSettings",
  "summaryTimeout",
];
const ARGUMENT_NAMES = ["trigger", "keep", "maxLength", "truncationText"];

/** Sizes and the model are looked at where they are read. Throws a ConfigurationError. */
export function checkSummarizationOptions(options: SummarizationMiddlewareOptions): void {
  const maker = "createSummarizationMiddleware";
  checkMembers(options, OPTION_NAMES, maker, `${maker} takes an object of options`);
  checkBackend(options.backend);
  checkText(options.summaryPrompt, "summaryPrompt");
  checkNumber(options.trimTokensToSummarize, "trimTokensToSummarize");
  checkDurations({ unit: "seconds", unlimited: true }, { summaryTimeout: options.summaryTimeout });
  checkDirectory(options.historyPathPrefix);
  const { truncateArgsSettings: settings } = options;
  if (settings == null) return;
  const option = "truncateArgsSettings";
  checkMembers(
    settings,
    ARGUMENT_NAMES,
    `The option '${option}'`,
    `The option '${option}' must be an object`,
  );
  checkNumber(settings.maxLength, `${option}.maxLength`);
  checkText(settings.truncationText, `${option}.truncationText`);
}

/** Checks a plain object. Members without a value do not count. */
function checkMembers(value: unknown, names: readonly string[], owner: string, rule: string): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new ConfigurationError("INVALID_OPTION", `${rule}, not ${shown(value)}.`);
  checkNames(owner, value, names);
}

function checkText(value: unknown, option: string): void {
  if (value != null && typeof value !== "string") throw invalid(option, "must be text", value);
}

function checkNumber(value: unknown, option: string): void {
  if (value != null && !(typeof value === "number" && value > 0))
    throw invalid(option, "must be a number above 0", value);
}

function checkDirectory(value: unknown): void {
  const option = "historyPathPrefix";
  if (value == null) return;
  if (typeof value !== "string" || !value.startsWith("/"))
    throw invalid(option, "must be a path that begins with '/'", value);
  const { error } = canonicalPath(value);
  if (error !== undefined)
    throw new ConfigurationError("INVALID_OPTION", `The option '${option}' is no path: ${error}.`);
}

function invalid(option: string, rule: string, value: unknown): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `The option '${option}' ${rule}, not ${shown(value)}.`);
}

function shown(value: unknown): string {
  if (typeof value === "string") return `'${value}'`;
  if (value === null || typeof value !== "object") return String(value);
  return Array.isArray(value) ? "a list" : "an object";
}
