/** Files that differ between two states, found by the objects they are stored in. */
import { isRecord } from "deepwright/check-options";
import { KIND } from "../content/handle.ts";
import {
  identityOf,
  jsonListOf,
  jsonOf,
  type StateReader,
  type StoredState,
  type StoredValue,
  soleRef,
} from "./stored-state.ts";

export const FILES = "files";

export type ChangeKind = "created" | "changed" | "deleted";

export interface StoredChange {
  readonly path: string;
  readonly kind: ChangeKind;
  readonly before: StoredValue | undefined;
  readonly after: StoredValue | undefined;
}

/** Sorted by path. The channel must be loaded. A file whose data changed but not its content is the same. */
export function changedFiles(
  reader: StateReader,
  before: StoredState | undefined,
  after: StoredState | undefined,
): StoredChange[] {
  const old = leavesOf(reader, before?.channels.get(FILES));
  const fresh = leavesOf(reader, after?.channels.get(FILES));
  const oldFiles = entriesOf(
    reader,
    [...old].filter(([key]) => !fresh.has(key)).map(([, leaf]) => leaf),
  );
  const newFiles = entriesOf(
    reader,
    [...fresh].filter(([key]) => !old.has(key)).map(([, leaf]) => leaf),
  );
  const changes: StoredChange[] = [];
  for (const [path, file] of newFiles) {
    const previous = oldFiles.get(path);
    if (!previous) changes.push({ path, kind: "created", before: undefined, after: file });
    else if (contentIdentity(reader, previous) !== contentIdentity(reader, file))
      changes.push({ path, kind: "changed", before: previous, after: file });
  }
  for (const [path, file] of oldFiles)
    if (!newFiles.has(path)) changes.push({ path, kind: "deleted", before: file, after: undefined });
  return changes.sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0));
}

/** The leaves of a map by what they are: those two maps have in common hold the same files. */
function leavesOf(reader: StateReader, value: StoredValue | undefined): Map<string, StoredValue | number> {
  const leaves = new Map<string, StoredValue | number>();
  if (!value) return leaves;
  const root = soleRef(value);
  if (root === undefined) leaves.set(identityOf(value), value);
  else collectLeaves(reader, root, leaves);
  return leaves;
}

function collectLeaves(reader: StateReader, id: number, leaves: Map<string, StoredValue | number>): void {
  const object = reader.object(id);
  if (object?.kind === KIND.maps) for (const ref of object.refs) collectLeaves(reader, ref, leaves);
  else leaves.set(`#${id}`, id);
}

function entriesOf(reader: StateReader, leaves: readonly (StoredValue | number)[]): Map<string, StoredValue> {
  const entries = new Map<string, StoredValue>();
  for (const leaf of leaves)
    for (const [path, file] of typeof leaf === "number" ? leafEntries(reader, leaf) : inlineEntries(leaf))
      entries.set(path, file);
  return entries;
}

function leafEntries(reader: StateReader, id: number): [string, StoredValue][] {
  const object = reader.object(id);
  if (object?.kind === KIND.value) return inlineEntries({ json: jsonOf(object), refs: object.refs });
  if (object?.kind !== KIND.map) return [];
  const { refs } = object;
  const json = jsonListOf(object) as [string[], unknown[]] | string[];
  if (!Array.isArray(json[0]))
    return (json as string[]).map((path, i) => [path, { json: { $: 0 }, refs: [refs[i] as number] }]);
  const values = json[1] as unknown[];
  return json[0].map((path, i) => [path, { json: values[i], refs }]);
}

function inlineEntries({ json, refs }: StoredValue): [string, StoredValue][] {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return [];
  return Object.entries(json)
    .filter(([key]) => key !== "$")
    .map(([path, file]) => [path, { json: file, refs }]);
}

function contentIdentity(reader: StateReader, file: StoredValue): string {
  const data = dataOf(reader, file);
  const content = isRecord(data.json) && Object.hasOwn(data.json, "content") ? data.json.content : data.json;
  return identityOf({ json: content, refs: data.refs });
}

/** The fields of a file that is an object of its own. */
function dataOf(reader: StateReader, file: StoredValue): StoredValue {
  const id = soleRef(file);
  const object = id === undefined ? undefined : reader.object(id);
  return object?.kind === KIND.value ? { json: jsonOf(object), refs: object.refs } : file;
}
