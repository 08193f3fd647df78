/**
 * A checkpoint as a row: small, because names and metadata that stay the same are objects of their own.
 *
 * The body is `[time, step, newest version, versions, values]`: versions as their distance to the newest one, values in
 * the order of the names in the shape. The first two references are shape and metadata. A body that begins with `D`
 * belongs to a thread with delta channels, whose ancestors must stay.
 */
import type { ChannelVersions, Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { DeepwrightError } from "deepwright/errors";
import type { Decoder } from "../content/decode.ts";
import type { Encoder } from "../content/encode.ts";
import { Handle, KIND } from "../content/handle.ts";
import { isPlainObject } from "../content/inert.ts";
import { setOwn } from "../content/set-own.ts";
import type { ThreadMemory } from "../content/thread-memory.ts";
import { damaged, readStored } from "../storage/damaged.ts";

export const FORMAT = 1;
export const FIXED_REFS = 2;
const DELTA_MARK = "D";
/** The last moment a Date can tell. */
const LAST_MOMENT = 8.64e15;

/** Everything of a checkpoint that is names. */
interface Shape {
  readonly f: number;
  readonly v: number;
  readonly values: readonly string[];
  readonly versions: readonly string[];
  readonly seen: readonly (readonly [string, readonly string[]])[];
  /** Further fields of a checkpoint. */
  readonly rest?: readonly string[];
}

export interface EncodedCheckpoint {
  readonly refs: readonly Handle[];
  readonly body: string;
}

const KNOWN_FIELDS = new Set(["v", "id", "ts", "channel_values", "channel_versions", "versions_seen"]);

export function encodeCheckpoint(
  encoder: Encoder,
  memory: ThreadMemory,
  checkpoint: Checkpoint,
  metadata: CheckpointMetadata,
  namespace: string,
): EncodedCheckpoint {
  const { ts, channel_values: values, channel_versions: versions, versions_seen: seen } = checkpoint;
  const rest = Object.keys(checkpoint).filter((key) => !KNOWN_FIELDS.has(key));
  const flat = [
    ...Object.values(versions),
    ...Object.values(seen).flatMap((channels) => Object.values(channels)),
  ];
  const [step, lasting] = withoutStep((metadata ?? {}) as Record<string, unknown>);
  const encoded = encoder.encode([
    ...Object.entries(values).map(([channel, value]) => ({ value, key: `${namespace}\0${channel}` })),
    ...rest.map((key) => ({ value: (checkpoint as unknown as Record<string, unknown>)[key] })),
  ]);
  const head = [timeOf(ts), step, ...versionNumbers(flat)];
  const body = `${JSON.stringify(head).slice(0, -1)},${encoded.text}]`;
  return {
    refs: [
      shapeHandle(memory, checkpoint, rest),
      memory.recent(encoder.object(metadata === undefined ? null : lasting)),
      ...encoded.refs,
    ],
    body: hasDeltas(metadata) ? DELTA_MARK + body : body,
  };
}

/** The number goes into the row, so that the rest is the same at every step. Any other step stays where it is. */
function withoutStep(metadata: Record<string, unknown>): [number | null, Record<string, unknown>] {
  if (!Number.isSafeInteger(metadata.step)) return [null, metadata];
  const { step, ...lasting } = metadata;
  return [step as number, lasting];
}

interface KnownShape {
  readonly names: readonly (string | number)[];
  readonly handle: Handle;
}

/** Shape of the last checkpoint of a thread: most often the next one has the same names. */
const lastShapes = new WeakMap<ThreadMemory, KnownShape>();

function shapeHandle(memory: ThreadMemory, checkpoint: Checkpoint, rest: readonly string[]): Handle {
  const names = namesIn(checkpoint, rest);
  const last = lastShapes.get(memory);
  if (last?.names.length === names.length && names.every((name, i) => name === last.names[i]))
    return last.handle;
  const { v, channel_values: values, channel_versions: versions, versions_seen: seen } = checkpoint;
  const shape: Shape = {
    f: FORMAT,
    v,
    values: Object.keys(values),
    versions: Object.keys(versions),
    seen: Object.entries(seen).map(([node, channels]) => [node, Object.keys(channels)] as const),
    ...(rest.length > 0 ? { rest } : {}),
  };
  const handle = memory.recent(new Handle(KIND.value, [], JSON.stringify(shape)));
  lastShapes.set(memory, { names, handle });
  return handle;
}

/** The whole shape in one list: the number of names of each part, then the names. */
function namesIn(checkpoint: Checkpoint, rest: readonly string[]): (string | number)[] {
  const { v, channel_values: values, channel_versions: versions, versions_seen: seen } = checkpoint;
  const names: (string | number)[] = [v];
  const add = (keys: readonly string[]) => {
    names.push(keys.length);
    for (const key of keys) names.push(key);
  };
  add(Object.keys(values));
  add(Object.keys(versions));
  add(Object.keys(seen));
  for (const node in seen) add(Object.keys(seen[node] as object));
  add(rest);
  return names;
}

function hasDeltas(metadata: CheckpointMetadata | undefined): boolean {
  const counters = (metadata as Record<string, unknown> | undefined)?.counters_since_delta_snapshot;
  return typeof counters === "object" && counters !== null && Object.keys(counters).length > 0;
}

/** Milliseconds when they say all of it. */
function timeOf(ts: string): number | string {
  const time = Date.parse(ts);
  return !Number.isNaN(time) && new Date(time).toISOString() === ts ? time : ts;
}

function versionNumbers(versions: readonly (number | string)[]): [number | null, unknown[]] {
  if (!versions.every((version) => Number.isSafeInteger(version) && Number(version) >= 0))
    return [null, [...versions]];
  const newest = (versions as number[]).reduce((left, right) => Math.max(left, right), 0);
  return [newest, (versions as number[]).map((version) => newest - version)];
}

type Body = [number | string, number | null, number | null, (number | string)[], unknown[]];

export interface DecodedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata | undefined;
}

interface Row {
  readonly id: string;
  readonly refs: readonly number[];
  readonly body: string;
}

/** The references that give metadata and names: enough to filter by. */
export function headRefs({ refs }: Row): readonly number[] {
  return refs.slice(0, FIXED_REFS);
}

/** Records of a newer version must not be taken for something else. */
function shapeOf(decoder: Decoder, row: Row): Shape {
  const shape = decoder.value(row.refs[0] as number) as Shape;
  if (!isRecord(shape) || typeof shape.f !== "number")
    throw damaged(`checkpoint ${row.id} has no names of channels`);
  if (shape.f <= FORMAT) return shape;
  throw new DeepwrightError(
    "STORAGE_TOO_NEW",
    `The checkpoint ${row.id} was written by a newer version (format ${shape.f}, this one reads up to ${FORMAT}).`,
    { hint: "Update @deepwright/checkpoint." },
  );
}

export function decodeMetadata(decoder: Decoder, row: Row): CheckpointMetadata | undefined {
  shapeOf(decoder, row);
  const lasting = decoder.value(row.refs[1] as number) as Record<string, unknown> | null;
  if (lasting === null) return undefined;
  if (!isRecord(lasting)) throw damaged(`checkpoint ${row.id} has no metadata`);
  const [, step] = parseBody(row);
  return (step === null ? lasting : { ...lasting, step }) as unknown as CheckpointMetadata;
}

export function decodeCheckpoint(decoder: Decoder, row: Row): DecodedCheckpoint {
  return readStored(`checkpoint ${row.id}`, () => decodeWhole(decoder, row));
}

function decodeWhole(decoder: Decoder, row: Row): DecodedCheckpoint {
  const shape = shapeOf(decoder, row);
  const [time, , newest, numbers, contents] = parseBody(row);
  const versions = newest === null ? numbers : numbers.map((distance) => newest - (distance as number));
  const refs = row.refs.slice(FIXED_REFS);
  const values = contents.map((content) => decoder.json(content, refs));
  let place = shape.versions.length;
  const seen: Record<string, ChannelVersions> = {};
  for (const [node, channels] of shape.seen) {
    setOwn(seen, node, zip(channels, versions.slice(place, place + channels.length)));
    place += channels.length;
  }
  const { rest = [] } = shape;
  if (place !== versions.length || shape.values.length + rest.length !== values.length)
    throw damaged(`checkpoint ${row.id} has other channels than names of them`);
  const checkpoint = {
    v: shape.v,
    id: row.id,
    ts: typeof time === "number" ? new Date(time).toISOString() : time,
    channel_values: zip(shape.values, values),
    channel_versions: zip(shape.versions, versions) as ChannelVersions,
    versions_seen: seen,
    ...zip(rest, values.slice(shape.values.length)),
  };
  return { checkpoint, metadata: decodeMetadata(decoder, row) };
}

/** The channels a checkpoint has values of, with their versions. */
export function storedVersions(decoder: Decoder, row: Row): [string, number | string | undefined][] {
  const shape = shapeOf(decoder, row);
  const [, , newest, numbers] = parseBody(row);
  const versions = new Map(
    shape.versions.map((channel, i) => {
      const number = numbers[i];
      return [channel, newest === null ? number : newest - (number as number)];
    }),
  );
  return shape.values.map((channel) => [channel, versions.get(channel)]);
}

/** Throws STORAGE_CORRUPT for a text that cannot be a checkpoint. */
export function parseBody({ id, body }: Row): Body {
  const json = readStored(`checkpoint ${id}`, () =>
    JSON.parse(body.startsWith(DELTA_MARK) ? body.slice(DELTA_MARK.length) : body),
  ) as Body;
  if (Array.isArray(json) && isTime(json[0]) && isNewest(json[2]) && Array.isArray(json[4]))
    if (Array.isArray(json[3]) && json[3].every(json[2] === null ? isVersion : Number.isSafeInteger))
      return json;
  throw damaged(`checkpoint ${id} is not a whole one`);
}

function isTime(time: unknown): boolean {
  return (
    time === null ||
    typeof time === "string" ||
    (Number.isSafeInteger(time) && Math.abs(time as number) <= LAST_MOMENT)
  );
}

function isNewest(version: unknown): boolean {
  return version === null || Number.isSafeInteger(version);
}

function isVersion(version: unknown): boolean {
  return version === null || typeof version === "string" || typeof version === "number";
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) && isPlainObject(value);
}

function zip(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [i, name] of names.entries()) setOwn(result, name, values[i]);
  return result;
}
