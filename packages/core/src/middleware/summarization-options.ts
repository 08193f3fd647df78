/** Whether options of summaries are what they must be. */

import { checkBackend } from "../backends/check-backend.ts";
import { checkNames } from "../check-options.ts";
import { checkDurations } from "../duration.ts";
import { ConfigurationError } from "../errors.ts";
import { canonicalPath } from "../paths.ts";
import type { SummarizationMiddlewareOptions } from "./summarization.ts";

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

/** A plain object, of which only members that have a value count. */
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
