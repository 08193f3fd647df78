/**
 * A checkpoint as the objects it refers to, without building its values.
 *
 * Objects of one storage are equal if and only if their ids are, so what a step changed is found by
 * comparing numbers: nothing that stayed the same is looked at.
 */
import { Decoder } from "../content/decode.ts";
import { KIND } from "../content/handle.ts";
import { decodeCheckpoint, headRefs } from "../saver/record.ts";
import { damaged, readStored } from "../storage/damaged.ts";
import type { CheckpointRow, StoredObject, ThreadStorage } from "../storage/storage.ts";

/** A value as it is stored: JSON in which `{"$": n}` is the object `refs[n]`. */
export interface StoredValue {
  readonly json: unknown;
  readonly refs: readonly number[];
}

export interface StoredState {
  readonly row: CheckpointRow;
  readonly step: number;
  readonly source: string;
  /** ISO 8601. */
  readonly at: string;
  readonly channels: ReadonlyMap<string, StoredValue>;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Gives the values of channels as they are stored; names and metadata are built. */
class Outline extends Decoder {
  constructor(private readonly whole: Decoder) {
    super();
  }

  override value(id: number): unknown {
    return this.whole.value(id);
  }

  override json(json: unknown, refs: readonly number[]): unknown {
    return { json, refs } satisfies StoredValue;
  }
}

/** Characters of a long text that are kept by a reader that wants no contents. */
const BEGINNING = 400;

export class StateReader {
  private readonly objects = new Map<number, StoredObject>();
  private readonly decoder = new Decoder();
  private readonly outline = new Outline(this.decoder);

  /** Without `contents` long texts are kept as their beginnings: for reading many steps. */
  constructor(
    private readonly storage: ThreadStorage,
    private readonly contents = true,
  ) {}

  /** Knows everything of the rows but the values of their channels. */
  async states(rows: readonly CheckpointRow[]): Promise<StoredState[]> {
    await this.load(rows.flatMap((row) => headRefs(row)));
    return rows.map((row) => this.state(row));
  }

  /** Objects of the channels with these names can be read afterwards. */
  async loadChannels(
    states: readonly StoredState[],
    names: readonly string[],
    mostBytes?: number,
  ): Promise<void> {
    const values = states.flatMap(({ channels }) => names.map((name) => channels.get(name)));
    await this.load(
      values.flatMap((value) => (value ? usedRefs(value) : [])),
      mostBytes,
    );
  }

  /** Bytes, or characters, of what it has loaded. */
  get size(): number {
    return this.decoder.size;
  }

  async load(ids: readonly number[], mostBytes?: number): Promise<void> {
    const missing = ids.filter((id) => !this.objects.has(id));
    if (missing.length === 0) return;
    const loaded = await this.storage.loadObjects(missing, [...this.objects.keys()], mostBytes);
    const kept = this.contents ? loaded : loaded.map(beginning);
    for (const object of kept) this.objects.set(object.id, object);
    this.decoder.add(kept);
  }

  /** The value itself: a new one each time. */
  build({ json, refs }: StoredValue): unknown {
    return this.decoder.json(structuredClone(json), refs);
  }

  buildObject(id: number): unknown {
    return this.decoder.value(id);
  }

  object(id: number): StoredObject | undefined {
    return this.objects.get(id);
  }

  private state(row: CheckpointRow): StoredState {
    const { checkpoint, metadata } = decodeCheckpoint(this.outline, row);
    const known = (metadata ?? {}) as unknown as Record<string, unknown>;
    return {
      row,
      step: typeof known.step === "number" ? known.step : 0,
      source: typeof known.source === "string" ? known.source : "",
      at: checkpoint.ts,
      channels: new Map(Object.entries(checkpoint.channel_values as Record<string, StoredValue>)),
      metadata: known,
    };
  }
}

function beginning(object: StoredObject): StoredObject {
  switch (object.kind) {
    case KIND.text:
      return { ...object, body: (object.body as string).slice(0, BEGINNING) };
    case KIND.text16:
    case KIND.bytes:
      return { ...object, body: object.body.slice(0, BEGINNING) };
    default:
      return object;
  }
}

/** The JSON an object consists of. */
export function jsonOf({ id, body }: StoredObject): unknown {
  return readStored(`object ${id}`, () => JSON.parse(body as string));
}

export function jsonListOf(object: StoredObject): unknown[] {
  const json = jsonOf(object);
  if (Array.isArray(json)) return json;
  throw damaged(`object ${object.id} is no list`);
}

/** The object a value consists of, if it is one alone. */
export function soleRef({ json, refs }: StoredValue): number | undefined {
  const place = typeof json === "object" && json !== null ? (json as { $?: unknown }).$ : undefined;
  if (typeof place !== "number") return undefined;
  const id = refs[place];
  if (id === undefined) throw damaged(`a value refers to content ${place} of ${refs.length}`);
  return id;
}

function usedRefs(value: StoredValue): number[] {
  const found: number[] = [];
  JSON.stringify(value.json, (_, part) => {
    const id = soleRef({ json: part, refs: value.refs });
    if (id !== undefined) found.push(id);
    return part;
  });
  return found;
}

/** Equal for equal values of one storage. */
export function identityOf({ json, refs }: StoredValue): string {
  return JSON.stringify(json, (_, part) => {
    const id = soleRef({ json: part, refs });
    return id === undefined ? part : { $: `#${id}` };
  });
}
