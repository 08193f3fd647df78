/** Objects back into values. Every read builds new ones: the caller may do with them what it likes. */
import { DeepwrightError } from "deepwright/errors";
import type { StoredObject } from "../home/home.ts";
import { KIND } from "./handle.ts";
import { readInert, revive } from "./inert.ts";
import { setOwn } from "./set-own.ts";

export class Decoder {
  private readonly objects = new Map<number, StoredObject>();

  add(objects: readonly StoredObject[]): void {
    for (const object of objects) this.objects.set(object.id, object);
  }

  ids(): number[] {
    return [...this.objects.keys()];
  }

  has(id: number): boolean {
    return this.objects.has(id);
  }

  /** The value of a JSON text whose references are `refs`. */
  text(text: string, refs: readonly number[]): unknown {
    return parsed(() => readInert(text, (ref) => this.value(refs[ref] as number)));
  }

  json(json: unknown, refs: readonly number[]): unknown {
    return revive(json, (ref) => this.value(refs[ref] as number));
  }

  value(id: number): unknown {
    const object = this.object(id);
    const { kind, refs, body } = object;
    switch (kind) {
      case KIND.value:
        return this.text(body as string, refs);
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
        throw unreadable(`content of kind ${kind}`);
    }
  }

  private object(id: number): StoredObject {
    const object = this.objects.get(id);
    if (!object) throw unreadable(`object ${id}, which is missing`);
    return object;
  }

  private joined(refs: readonly number[]): Buffer {
    return Buffer.concat(refs.map((ref) => this.object(ref).body as Uint8Array));
  }

  private fillList({ kind, refs, body }: StoredObject, list: unknown[]): void {
    if (kind === KIND.lists) for (const ref of refs) this.fillList(this.object(ref), list);
    else if (body === "") for (const ref of refs) list.push(this.value(ref));
    else for (const element of entriesOf(this.text(body as string, refs))) list.push(element);
  }

  private fillMap({ kind, refs, body }: StoredObject, map: object): void {
    if (kind === KIND.maps) {
      for (const ref of refs) this.fillMap(this.object(ref), map);
      return;
    }
    const json = entriesOf(parsed(() => JSON.parse(body as string))) as [string[], unknown[]] | string[];
    if (Array.isArray(json[0]))
      for (const [i, key] of json[0].entries()) setOwn(map, key, this.json((json[1] as unknown[])[i], refs));
    else for (const [i, key] of (json as string[]).entries()) setOwn(map, key, this.value(refs[i] as number));
  }
}

function parsed<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) throw unreadable("a text that is no JSON", error);
    throw error;
  }
}

function entriesOf(json: unknown): unknown[] {
  if (!Array.isArray(json)) throw unreadable("a collection that is no list");
  return json;
}

function unreadable(what: string, cause?: unknown): DeepwrightError {
  return new DeepwrightError("STORAGE_CORRUPT", `A stored value refers to ${what}.`, {
    hint: "The data is damaged, or was written by a newer version.",
    cause,
  });
}
