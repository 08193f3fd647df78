/** Objects back into values. Every read builds new ones, so the caller may change them. */
import { damaged, readStored } from "../storage/damaged.ts";
import type { StoredObject } from "../storage/storage.ts";
import { KIND } from "./handle.ts";
import { readInert, revive } from "./inert.ts";
import { setOwn } from "./set-own.ts";

export class Decoder {
  private readonly objects = new Map<number, StoredObject>();
  /** Bytes, or characters, of all objects it has. */
  size = 0;

  add(objects: readonly StoredObject[]): void {
    for (const object of objects) {
      this.objects.set(object.id, object);
      this.size += object.body.length;
    }
  }

  ids(): number[] {
    return [...this.objects.keys()];
  }

  has(id: number): boolean {
    return this.objects.has(id);
  }

  /** Size of the values of these objects, as they are built: an object that is referred to twice counts twice. */
  bytes(ids: readonly number[]): number {
    const sizes = new Map<number, number>();
    const sizeOf = (id: number): number => {
      const known = sizes.get(id);
      if (known !== undefined) return known;
      sizes.set(id, 0);
      const { refs, body } = this.object(id);
      const size = usedRefs(body, refs).reduce((sum, ref) => sum + sizeOf(ref), body.length);
      sizes.set(id, size);
      return size;
    };
    return ids.reduce((sum, id) => sum + sizeOf(id), 0);
  }

  /** The value of a JSON text whose references are `refs`. */
  text(text: string, refs: readonly number[]): unknown {
    return readStored("a value", () => this.buildText(text, refs));
  }

  json(json: unknown, refs: readonly number[]): unknown {
    return readStored("a value", () => this.buildJson(json, refs));
  }

  value(id: number): unknown {
    return readStored(`object ${id}`, () => this.build(id));
  }

  private buildText(text: string, refs: readonly number[]): unknown {
    return readInert(text, (ref) => this.build(refs[ref] as number));
  }

  private buildJson(json: unknown, refs: readonly number[]): unknown {
    return revive(json, (ref) => this.build(refs[ref] as number));
  }

  private build(id: number): unknown {
    const object = this.object(id);
    const { kind, refs, body } = object;
    switch (kind) {
      case KIND.value:
        return this.buildText(body as string, refs);
      case KIND.text:
        return body;
      case KIND.text16:
        return Buffer.from(body as Uint8Array).toString("utf16le");
      case KIND.bytes:
        return new Uint8Array(body as Uint8Array);
      case KIND.joinedText:
        return refs.map((ref) => this.object(ref).body).join("");
      case KIND.joinedText16:
        return this.joined(refs).toString("utf16le");
      case KIND.joinedBytes:
        return new Uint8Array(this.joined(refs));
      case KIND.list:
      case KIND.lists: {
        const list: unknown[] = [];
        this.fillList(object, list);
        return list;
      }
      case KIND.map:
      case KIND.maps: {
        const map = {};
        this.fillMap(object, map);
        return map;
      }
      default:
        throw damaged(`object ${id} is of the unknown kind ${kind}`);
    }
  }

  private object(id: number): StoredObject {
    const object = this.objects.get(id);
    if (!object) throw damaged(`object ${id} is missing`);
    return object;
  }

  private joined(refs: readonly number[]): Buffer {
    return Buffer.concat(refs.map((ref) => this.object(ref).body as Uint8Array));
  }

  private fillList({ kind, refs, body }: StoredObject, list: unknown[]): void {
    if (kind === KIND.lists) for (const ref of refs) this.fillList(this.object(ref), list);
    else if (body === "") for (const ref of refs) list.push(this.build(ref));
    else for (const element of entriesOf(this.buildText(body as string, refs))) list.push(element);
  }

  private fillMap({ kind, refs, body }: StoredObject, map: object): void {
    if (kind === KIND.maps) {
      for (const ref of refs) this.fillMap(this.object(ref), map);
      return;
    }
    const json = entriesOf(JSON.parse(body as string)) as [string[], unknown[]] | string[];
    if (Array.isArray(json[0]))
      for (const [i, key] of json[0].entries())
        setOwn(map, key, this.buildJson((json[1] as unknown[])[i], refs));
    else for (const [i, key] of (json as string[]).entries()) setOwn(map, key, this.build(refs[i] as number));
  }
}

/** The references of an object, each as often as its JSON has it. */
function usedRefs(body: string | Uint8Array, refs: readonly number[]): readonly number[] {
  if (typeof body !== "string" || refs.length === 0) return refs;
  const used = Array.from(body.matchAll(/"\$":(\d+)/g), ([, place]) => refs[Number(place)]);
  return used.length === 0 ? refs : used.filter((ref) => ref !== undefined);
}

function entriesOf(json: unknown): unknown[] {
  if (!Array.isArray(json)) throw damaged("a collection is no list");
  return json;
}
