/** References in as few bytes as possible: differences between neighbours, as they are stored. */

import { damaged } from "./damaged.ts";

const encoder = new Uint8Array(10);
/** Bits of the eighth and last byte of a number. */
const LARGEST_SCALE = 128 ** 7;

/** Bytes of an object before its body: its kind, whether the body is text, its references. */
export interface Head {
  readonly kind: number;
  readonly text: boolean;
  readonly refs: readonly number[];
}

/** Numbers are integers from 0 to 2^52. */
export function encodeRefs(refs: readonly number[]): Uint8Array {
  return encode(undefined, refs);
}

export function decodeRefs(bytes: Uint8Array | null): number[] {
  return bytes === null ? [] : decodeFrom(bytes, 0);
}

export function encodeHead(head: Head): Uint8Array {
  return encode(head.kind * 2 + (head.text ? 1 : 0), head.refs);
}

export function decodeHead(bytes: Uint8Array): Head {
  const place = { position: 0 };
  const first = readVarint(bytes, place);
  return { kind: Math.floor(first / 2), text: first % 2 === 1, refs: decodeFrom(bytes, place.position) };
}

function encode(first: number | undefined, refs: readonly number[]): Uint8Array {
  if (refs.length === 0) return first === undefined ? new Uint8Array(0) : varint(first).slice();
  const bytes: number[] = [];
  if (first !== undefined) bytes.push(...varint(first));
  let previous = 0;
  for (const ref of refs) {
    const difference = ref - previous;
    for (const byte of varint(difference >= 0 ? difference * 2 : -difference * 2 - 1)) bytes.push(byte);
    previous = ref;
  }
  return Uint8Array.from(bytes);
}

/** A view of a shared buffer: good until the next call. */
function varint(value: number): Uint8Array {
  let rest = value;
  let length = 0;
  while (rest >= 128) {
    encoder[length++] = (rest % 128) + 128;
    rest = Math.floor(rest / 128);
  }
  encoder[length++] = rest;
  return encoder.subarray(0, length);
}

function decodeFrom(bytes: Uint8Array, start: number): number[] {
  const refs: number[] = [];
  const place = { position: start };
  let previous = 0;
  while (place.position < bytes.length) {
    const value = readVarint(bytes, place);
    previous += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    if (!Number.isSafeInteger(previous) || previous < 0)
      throw damaged("a reference is no number of an object");
    refs.push(previous);
  }
  return refs;
}

/** Leaves `place` behind the number. */
function readVarint(bytes: Uint8Array, place: { position: number }): number {
  let value = 0;
  let scale = 1;
  for (;;) {
    const byte = bytes[place.position++];
    if (byte === undefined || scale > LARGEST_SCALE) throw damaged("a list of references is cut off");
    value += (byte & 127) * scale;
    if (byte < 128) return value;
    scale *= 128;
  }
}
