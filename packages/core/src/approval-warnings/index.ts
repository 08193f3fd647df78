/** Warnings about calls and texts that a person is asked to approve. */
export { type CallWarningOptions, callWarnings, type WarnedCall } from "./call-warnings.ts";
export { escaped, GAP, GAP_LINES, HIDDEN } from "./hidden-text.ts";
export { suspicions } from "./suspicions.ts";
