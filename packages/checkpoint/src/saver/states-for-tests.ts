/** States as graphs make them: each derived from one before it, sharing what did not change. */
import type { BaseMessage } from "@langchain/core/messages";
import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { cameIn, forSavers, isMadeByLoop, madeByLoop } from "deepwright/channel-values";
import fc from "fast-check";
import { anyKey, anyMessage, anyText, anyValue } from "./values-for-tests.ts";

export interface State {
  readonly messages: readonly BaseMessage[];
  readonly files: Readonly<Record<string, unknown>>;
  readonly notes: string;
  /** Channels of any name. */
  readonly other: Readonly<Record<string, unknown>>;
}

export const EMPTY: State = { messages: [], files: {}, notes: "", other: {} };

export type Edit =
  | { readonly kind: "append"; readonly messages: readonly BaseMessage[] }
  | { readonly kind: "replace"; readonly place: number; readonly message: BaseMessage }
  | { readonly kind: "remove"; readonly place: number }
  | { readonly kind: "file"; readonly path: string; readonly content: unknown }
  | { readonly kind: "files"; readonly count: number; readonly content: string }
  | { readonly kind: "unlink"; readonly place: number }
  | { readonly kind: "text"; readonly place: number; readonly cut: number; readonly insert: string }
  | { readonly kind: "other"; readonly channel: string; readonly value: unknown };

const place = fc.nat({ max: 1_000 });
const path = fc.oneof(
  fc.nat({ max: 300 }).map((i) => `/file-${i}`),
  anyKey,
);
const fileData = fc.oneof(
  anyText.map((content) => ({ content, mimeType: "text/plain", created_at: "2025-01-01" })),
  anyValue,
);

export const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({
    kind: fc.constant("append" as const),
    messages: fc.array(anyMessage, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant("replace" as const), place, message: anyMessage }),
  fc.record({ kind: fc.constant("remove" as const), place }),
  fc.record({ kind: fc.constant("file" as const), path, content: fileData }),
  fc.record({
    kind: fc.constant("files" as const),
    count: fc.integer({ min: 1, max: 200 }),
    content: fc.string({ maxLength: 200 }),
  }),
  fc.record({ kind: fc.constant("unlink" as const), place }),
  fc.record({ kind: fc.constant("text" as const), place, cut: fc.nat({ max: 50 }), insert: anyText }),
  fc.record({ kind: fc.constant("other" as const), channel: anyKey, value: anyValue }),
);

const LONG_NOTE = Array.from({ length: 1_500 }, (_, i) => `line ${i} of a note\n`).join("");

/** With `marked` the lists and maps are made as the loop of deepwright makes them. */
export function edited(state: State, edits: readonly Edit[], marked: boolean): State {
  const next = edits.reduce(apply, state);
  if (!marked) return next;
  mark(state.messages, next.messages);
  mark(Object.values(state.files), Object.values(next.files), state.files, next.files);
  return next;
}

function apply(state: State, edit: Edit): State {
  const { messages, files, notes } = state;
  switch (edit.kind) {
    case "append":
      return { ...state, messages: [...messages, ...edit.messages] };
    case "replace":
      return {
        ...state,
        messages: messages.map((old, i) => (i === edit.place % messages.length ? edit.message : old)),
      };
    case "remove":
      return { ...state, messages: messages.filter((_, i) => i !== edit.place % messages.length) };
    case "file":
      return { ...state, files: withFiles(files, [[edit.path, edit.content]]) };
    case "files":
      return {
        ...state,
        files: withFiles(
          files,
          Array.from({ length: edit.count }, (_, i) => [`/file-${i}`, { content: `${edit.content} ${i}` }]),
        ),
      };
    case "unlink": {
      const paths = Object.keys(files);
      return {
        ...state,
        files: Object.fromEntries(
          Object.entries(files).filter(([name]) => name !== paths[edit.place % paths.length]),
        ),
      };
    }
    case "text": {
      const text = notes === "" ? LONG_NOTE : notes;
      const start = edit.place * 20;
      return { ...state, notes: text.slice(0, start) + edit.insert + text.slice(start + edit.cut) };
    }
    case "other":
      return { ...state, other: withFiles(state.other, [[edit.channel, edit.value]]) };
  }
}

function withFiles(
  files: Readonly<Record<string, unknown>>,
  added: readonly [string, unknown][],
): Record<string, unknown> {
  return Object.fromEntries([...Object.entries(files), ...added]);
}

function mark(
  before: readonly unknown[],
  after: readonly unknown[],
  from: object = before,
  to: object = after,
): void {
  if (isMadeByLoop(to)) return;
  const had = new Set(isMadeByLoop(from) ? before : []);
  for (const element of after) if (!had.has(element)) cameIn(element);
  madeByLoop(to);
}

/** As the channels of a loop hand their lists and maps to savers. */
function asChannel(value: unknown): unknown {
  return typeof value === "object" && value !== null && isMadeByLoop(value) ? forSavers(value) : value;
}

let clock = 0;

/** Ids that sort by the time they were made. */
export function nextId(): string {
  clock += 1;
  return `1f000000-0000-6000-8000-${clock.toString(16).padStart(12, "0")}`;
}

export function checkpointOf({ other, ...state }: State, step = 1): Checkpoint {
  const channel_values: Record<string, unknown> = Object.fromEntries([
    ...Object.entries(other),
    ...Object.entries(state).map(([name, value]) => [name, asChannel(value)] as const),
  ]);
  const names = Object.keys(channel_values);
  return {
    v: 4,
    id: nextId(),
    ts: new Date(1_700_000_000_000 + step * 1_000).toISOString(),
    channel_values,
    channel_versions: Object.fromEntries(names.map((name, i) => [name, step + (i % 3)])),
    versions_seen: {
      __input__: {},
      agent: Object.fromEntries(names.slice(0, 2).map((name) => [name, step])),
    },
  };
}

export function metadataOf(step = 1, extra: object = {}): CheckpointMetadata {
  return { source: step % 3 === 0 ? "update" : "loop", step, parents: {}, ...extra };
}

/** A read value as a state again; damaged channels start anew. */
export function stateOf(checkpoint: Checkpoint): State {
  const { messages, files, notes, ...other } = checkpoint.channel_values as Record<string, any>;
  return {
    messages: Array.isArray(messages) ? messages : [],
    files: typeof files === "object" && files !== null ? files : {},
    notes: typeof notes === "string" ? notes : "",
    other,
  };
}
