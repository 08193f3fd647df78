/** The canonical form of a request: its parts, their hashes, and how two requests differ. */
import { createHash } from "node:crypto";
import { type AnyRequest, requestParts } from "deepwright/testing";
import type { Cassette, RecordedRequest } from "./cassette.ts";

export interface KeyedRequest extends RecordedRequest {
  /** Texts of the parts, by hash. */
  readonly texts: Readonly<Record<string, string>>;
}

export function keyedRequest(request: AnyRequest): KeyedRequest {
  const texts: Record<string, string> = {};
  const parts = requestParts(request).map(({ name, text }): [string, string] => {
    const hash = hashOf(text);
    texts[hash] = text;
    return [name, hash];
  });
  return { key: hashOf(parts.map(([, hash]) => hash).join("\n")), parts, texts };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

const AROUND = 60;
const SHOWN = 300;

/** A readable difference, or undefined when the requests are the same. */
export function differenceIn(
  recorded: RecordedRequest,
  texts: Cassette["texts"],
  sent: KeyedRequest,
): string | undefined {
  if (recorded.key === sent.key) return undefined;
  const index = sent.parts.findIndex(([, hash], i) => hash !== recorded.parts[i]?.[1]);
  const at = index === -1 ? sent.parts.length : index;
  const [before, now] = [recorded.parts[at], sent.parts[at]];
  if (now === undefined)
    return `The request ends before ${before?.[0]}, which was:\n  - ${cut(texts[before?.[1] ?? ""] ?? "")}`;
  const after = sent.texts[now[1]] ?? "";
  if (before === undefined)
    return `The request goes on with ${now[0]}, which was not there:\n  + ${cut(after)}`;
  const name = before[0] === now[0] ? now[0] : `${now[0]} (before: ${before[0]})`;
  const old = texts[before[1]] ?? "";
  const { same, one, other } = changeIn(old, after);
  const words = `${name} differs from character ${same} on:\n  - ${one}\n  + ${other}`;
  const more = newParts(recorded, sent).filter((each) => each !== now[0]);
  return more.length === 0 ? words : `${words}\n  Other parts that changed: ${listed(more)}.`;
}

/** The part of each text that differs, with a little around it. */
function changeIn(
  before: string,
  after: string,
): { readonly same: number; readonly one: string; readonly other: string } {
  const same = commonLength(before, after);
  const most = Math.min(before.length, after.length) - same;
  let tail = 0;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const part = (text: string) => {
    const [start, end] = [Math.max(0, same - AROUND), Math.min(text.length, text.length - tail + AROUND)];
    return `${start > 0 ? "…" : ""}${cut(text.slice(start, end))}${end < text.length ? "…" : ""}`;
  };
  return { same, one: part(before), other: part(after) };
}

/** Names of the parts whose text stands nowhere in the recorded request. */
function newParts(recorded: RecordedRequest, sent: KeyedRequest): string[] {
  const known = new Set(recorded.parts.map(([, hash]) => hash));
  return sent.parts.filter(([, hash]) => !known.has(hash)).map(([name]) => name);
}

const MOST_NAMES = 5;

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return [...names.slice(0, MOST_NAMES), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** On one line: control characters are escaped. */
function cut(text: string): string {
  const short = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  return short.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
}
