/** The server name in the first bytes of a TLS connection. */

export type ClientHello =
  /** Not all of it has come yet. */
  | { readonly state: "incomplete" }
  | { readonly state: "invalid" }
  /** `serverName` as it was sent; undefined: the client sent none. */
  | { readonly state: "complete"; readonly serverName: string | undefined };

/** A TLS connection begins with a record of this type. */
export const TLS_HANDSHAKE = 0x16;
/** Longer hellos are refused. */
export const MAX_HELLO_BYTES = 16_384;
/** Fatal `unrecognized_name`, for clients to show. */
export const UNRECOGNIZED_NAME_ALERT = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x70]);

const INVALID = { state: "invalid" } as const;
const INCOMPLETE = { state: "incomplete" } as const;

/** Reads the bytes so far; a hello may be spread over several records. */
export function readClientHello(bytes: Buffer): ClientHello {
  const fragments: Buffer[] = [];
  let size = 0;
  let expected: number | undefined;
  for (let at = 0; ; ) {
    if (bytes.length > at && bytes[at] !== TLS_HANDSHAKE) return INVALID;
    if (bytes.length < at + 5) return bytes.length > 2 * MAX_HELLO_BYTES ? INVALID : INCOMPLETE;
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at + 1] !== 3 || length === 0 || length > 16_384) return INVALID;
    const fragment = bytes.subarray(at + 5, at + 5 + length);
    fragments.push(fragment);
    size += fragment.length;
    if (expected === undefined && size >= 4) {
      const head = Buffer.concat(fragments);
      expected = 4 + head.readUIntBE(1, 3);
      if (head[0] !== 1 || expected > MAX_HELLO_BYTES) return INVALID;
    }
    if (expected !== undefined && size >= expected)
      return serverNameOf(Buffer.concat(fragments).subarray(4, expected));
    if (fragment.length < length) return INCOMPLETE;
    at += 5 + length;
  }
}

function serverNameOf(hello: Buffer): ClientHello {
  try {
    let at = 34;
    at += 1 + hello.readUInt8(at);
    at += 2 + hello.readUInt16BE(at);
    at += 1 + hello.readUInt8(at);
    if (at === hello.length) return { state: "complete", serverName: undefined };
    const end = at + 2 + hello.readUInt16BE(at);
    at += 2;
    if (end !== hello.length) return INVALID;
    const names: string[] = [];
    while (at < end) {
      const type = hello.readUInt16BE(at);
      const length = hello.readUInt16BE(at + 2);
      if (at + 4 + length > end) return INVALID;
      if (type === 0) names.push(hostName(hello.subarray(at + 4, at + 4 + length)));
      at += 4 + length;
    }
    if (names.length > 1) return INVALID;
    return { state: "complete", serverName: names[0] };
  } catch (error) {
    if (error instanceof RangeError) return INVALID;
    throw error;
  }
}

/** One entry of the type host name, as all clients send it; anything else throws a RangeError. */
function hostName(extension: Buffer): string {
  const length = extension.readUInt16BE(3);
  const isOne = extension.readUInt16BE(0) === extension.length - 2 && extension[2] === 0;
  if (!isOne || length !== extension.length - 5) throw new RangeError("not one host name");
  return extension.toString("latin1", 5);
}
