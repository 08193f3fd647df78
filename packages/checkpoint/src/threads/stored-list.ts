/** Length and single elements of a stored list, without reading the others. */
import { KIND } from "../content/handle.ts";
import { jsonListOf, type StateReader, type StoredValue, soleRef } from "./stored-state.ts";

/** 0 for what is no list. */
export function listLength(reader: StateReader, value: StoredValue | undefined): number {
  if (!value) return 0;
  const root = soleRef(value);
  if (root !== undefined) return objectLength(reader, root);
  return Array.isArray(value.json) ? value.json.length : 0;
}

function objectLength(reader: StateReader, id: number): number {
  const object = reader.object(id);
  if (object?.kind === KIND.lists)
    return object.refs.reduce((sum, ref) => sum + objectLength(reader, ref), 0);
  if (object?.kind !== KIND.list) return 0;
  return object.body === "" ? object.refs.length : jsonListOf(object).length;
}

/** The value of the element; `undefined` where there is none. */
export function listElement(reader: StateReader, value: StoredValue, index: number): unknown {
  const root = soleRef(value);
  if (root !== undefined) return objectElement(reader, root, index);
  const list = Array.isArray(value.json) ? value.json : [];
  return index < list.length ? reader.build({ json: list[index], refs: value.refs }) : undefined;
}

function objectElement(reader: StateReader, id: number, index: number): unknown {
  const object = reader.object(id);
  if (object?.kind === KIND.lists) {
    let left = index;
    for (const ref of object.refs) {
      const length = objectLength(reader, ref);
      if (left < length) return objectElement(reader, ref, left);
      left -= length;
    }
    return undefined;
  }
  if (object?.kind !== KIND.list) return undefined;
  if (object.body === "") {
    const ref = object.refs[index];
    return ref === undefined ? undefined : reader.buildObject(ref);
  }
  const list = jsonListOf(object);
  return index < list.length ? reader.build({ json: list[index], refs: object.refs }) : undefined;
}
