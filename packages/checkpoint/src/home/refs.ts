/** References in as few bytes as possible: differences between neighbours, as they are stored. */

const encoder = new Uint8Array(10);

/** Bytes of an object before its body: what it is, whether the body is text, what it refers to. */
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
  let first = 0;
  let scale = 1;
  let position = 0;
  let byte: number;
  do {
    byte = bytes[position++] ?? 0;
    first += (byte & 127) * scale;
    scale *= 128;
  } while (byte >= 128);
  return { kind: Math.floor(first / 2), text: first % 2 === 1, refs: decodeFrom(bytes, position) };
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
  let previous = 0;
  let position = start;
  while (position < bytes.length) {
    let value = 0;
    let scale = 1;
    let byte: number;
    do {
      byte = bytes[position++] ?? 0;
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    previous += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    refs.push(previous);
  }
  return refs;
}
