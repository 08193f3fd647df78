/** Turns a graph's output into JSON for clients: no secret of this machine, nothing of the engine's, no `__proto__`. */
import { DeepwrightError } from "deepwright";
import { heldSecrets, type Secret, secretsIn } from "deepwright/secrets";
import { inBothSpellings } from "./both-spellings.ts";
import { errorText } from "./wire-error.ts";

interface MessageObject {
  getType(): string;
  toDict(): { readonly type: string; readonly data: object };
}

export interface WireJsonOptions {
  /** Streamed messages that are not whole yet say so in their type. */
  readonly pieces?: boolean;
  /** Beyond it VALUE_TOO_LARGE is thrown, before the whole text is made. Default: no limit. */
  readonly mostBytes?: number;
}

export type WireJson = (value: unknown, options?: WireJsonOptions) => string;

/** Keys of a config that only mean something inside the engine. */
const ENGINE_KEY = /^__(?:pregel|deepwright|lg)_/;

/** The values of secret variables (`environment` is read once) and of configured secrets are struck out of every text. */
export function createWireJson(environment: Readonly<Record<string, string | undefined>>): WireJson {
  const secrets = secretsIn(environment).map(spelledInJson);
  return (value, { pieces = false, mostBytes } = {}) => {
    const replacer = pieces ? plainWithPieces : plain;
    let text = stringify(value, mostBytes === undefined ? replacer : counting(replacer, mostBytes));
    if (mostBytes !== undefined && Buffer.byteLength(text) > mostBytes) throw tooLarge(mostBytes);
    for (const [label, secret] of [...secrets, ...heldSecrets().map(spelledInJson)])
      if (text.includes(secret)) text = text.replaceAll(secret, `[${label}]`);
    return text;
  };
}

function spelledInJson([label, value]: Secret): Secret {
  return [label, JSON.stringify(value).slice(1, -1)];
}

function tooLarge(mostBytes: number): DeepwrightError {
  return new DeepwrightError("VALUE_TOO_LARGE", `The answer would be larger than ${mostBytes} bytes.`, {
    hint: "Ask for less: fewer fields, fewer items, or one file at a time.",
  });
}

/** Stops when the characters of the texts are more than the bytes there may be. */
function counting(replacer: Replacer, mostBytes: number): Replacer {
  let length = 0;
  return function (name, made) {
    const value = replacer.call(this, name, made);
    length += name.length + (typeof value === "string" ? value.length : 1);
    if (length > mostBytes) throw tooLarge(mostBytes);
    return value;
  };
}

type Replacer = (this: unknown, name: string, made: unknown) => unknown;

function stringify(value: unknown, replacer: Replacer): string {
  try {
    return JSON.stringify(value, replacer) ?? "null";
  } catch (error) {
    if (error instanceof DeepwrightError && error.code === "VALUE_TOO_LARGE") throw error;
    // A cyclic object, or one whose `toJSON` throws.
    return JSON.stringify(value, breakingCircles(replacer)) ?? "null";
  }
}

/** A replacer sees the result of `toJSON`; the object itself is still in its holder. */
function plain(this: unknown, name: string, made: unknown): unknown {
  if (name === "__proto__" || ENGINE_KEY.test(name)) return undefined;
  const held = (this as Record<string, unknown>)[name];
  if (typeof held === "bigint") return String(held);
  if (typeof held !== "object" || held === null) return made;
  if (isMessage(held)) return messageData(held);
  if (held instanceof Error) return { error: held.name, message: errorText(held.message) };

  if (held instanceof Map) return Object.fromEntries(held);
  if (held instanceof Set) return [...held];
  if (held instanceof Uint8Array) return Buffer.from(held).toString("base64");
  return name === "value" ? inBothSpellings(made) : made;
}

/** As LangGraph's servers have it; the same message in a state is one of the assistant, whole. */
function plainWithPieces(this: unknown, name: string, made: unknown): unknown {
  const held = (this as Record<string, unknown>)[name];
  const value = plain.call(this, name, made);
  const isPiece = typeof held === "object" && held !== null && isMessage(held) && "concat" in held;
  return isPiece && held.getType() === "ai" ? { ...(value as object), type: "AIMessageChunk" } : value;
}

function breakingCircles(replacer: Replacer): Replacer {
  const above: unknown[] = [];
  return function (name, made) {
    const value = replacer.call(this, name, made);
    if (typeof value !== "object" || value === null) return value;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(value)) return undefined;
    above.push(value);
    return value;
  };
}

function isMessage(value: object): value is MessageObject {
  const { getType, toDict } = value as Partial<MessageObject>;
  return typeof getType === "function" && typeof toDict === "function";
}

function messageData(message: MessageObject): object {
  const { type, data } = message.toDict();
  return { ...data, type };
}
