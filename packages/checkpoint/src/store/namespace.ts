/**
 * Namespaces as text: each part followed by a period, `["users", "7"]` is `users.7.`. Parts have no
 * periods, so no two namespaces share a text, and those below a namespace are those whose text begins
 * with its text.
 */
import { DeepwrightError } from "deepwright/errors";
import { damaged } from "../storage/damaged.ts";

/** The longest namespace or key: what an index of Postgres holds of both together. */
const MAX_BYTES = 1_000;
const FORBIDDEN_PARTS = new Set(["", "*", "__proto__"]);

/** Called as LangGraph's error of that name, so that code that looks for it finds it. */
export class InvalidNamespaceError extends DeepwrightError {
  constructor(message: string) {
    super("INVALID_NAMESPACE", message);
    this.name = "InvalidNamespaceError";
  }
}

/** Where an item may be put. */
export function encodeNamespace(namespace: readonly string[]): string {
  const encoded = encodePrefix(namespace);
  if (encoded === "") throw new InvalidNamespaceError("A namespace has at least one part.");
  if (namespace[0] === "langgraph") {
    throw new InvalidNamespaceError('A namespace cannot begin with "langgraph".');
  }
  return encoded;
}

/** May be empty, which is above everything. */
export function encodePrefix(namespace: readonly string[]): string {
  if (!Array.isArray(namespace)) throw new InvalidNamespaceError("A namespace is a list of strings.");
  const encoded = namespace.map((part) => `${checkedPart(part)}.`).join("");
  if (Buffer.byteLength(encoded) > MAX_BYTES) {
    throw new InvalidNamespaceError(`A namespace has at most ${MAX_BYTES} bytes.`);
  }
  return encoded;
}

export function decodeNamespace(encoded: string): string[] {
  return encoded.split(".").slice(0, -1);
}

/** A stored one, which somebody may have edited: another would have no place in the order of lists. */
export function checkedNamespace(encoded: string): string {
  if (encoded.endsWith(".") && decodeNamespace(encoded).every((part) => part !== "")) return encoded;
  throw damaged("a namespace of the store is no list of parts");
}

/** The first text after everything that begins with this one; `/` follows the period. */
export function endOfPrefix(prefix: string): string {
  return `${prefix.slice(0, -1)}/`;
}

/** Parts to look for when listing; `*` stands for any one part. */
export function checkedPattern(path: readonly string[]): readonly string[] {
  if (!Array.isArray(path)) throw new InvalidNamespaceError("A namespace is a list of strings.");
  return path.map((part) => (part === "*" ? part : checkedPart(part)));
}

export function checkedKey(key: string): string {
  const problem = typeof key === "string" ? (textProblem(key) ?? lengthProblem(key)) : "must be a string";
  if (problem) throw new DeepwrightError("INVALID_ID", `The key of an item ${problem}.`);
  return key;
}

/** Text that keys are compared with; no key equals one that is not fit to be one. */
export function checkedStart(text: string): string {
  return text === "" ? text : checkedKey(text);
}

function checkedPart(part: unknown): string {
  if (typeof part !== "string") {
    throw new InvalidNamespaceError(`The parts of a namespace are strings, not ${typeof part}.`);
  }
  const problem = FORBIDDEN_PARTS.has(part)
    ? `cannot be "${part}"`
    : (periodProblem(part) ?? textProblem(part));
  if (problem) throw new InvalidNamespaceError(`A part of a namespace ${problem}.`);
  return part;
}

function periodProblem(text: string): string | undefined {
  return text.includes(".") ? `cannot have a period, as ${JSON.stringify(text)} has` : undefined;
}

/** Neither database keeps these as they are. */
function textProblem(text: string): string | undefined {
  if (text.includes("\0")) return "cannot contain NUL";
  return /\p{Surrogate}/u.test(text) ? "cannot contain half of a surrogate pair" : undefined;
}

function lengthProblem(text: string): string | undefined {
  return Buffer.byteLength(text) > MAX_BYTES ? `has at most ${MAX_BYTES} bytes` : undefined;
}
