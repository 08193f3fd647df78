/** Masks the value of an injected header in answers of a server. */
import { Transform } from "node:stream";

/** Shorter values would match unrelated text. */
const MIN_LENGTH = 8;

/** Text to look for: the credentials after the name of a scheme, else the value; undefined when it is too short. */
export function redactable(value: string): string | undefined {
  const credentials = /^[A-Za-z][A-Za-z0-9-]* +(\S.*)$/.exec(value)?.[1] ?? value;
  return credentials.length >= MIN_LENGTH ? credentials : undefined;
}

export function redactText(text: string, secrets: readonly string[]): string {
  return secrets.reduce((result, secret) => result.replaceAll(secret, "*".repeat(secret.length)), text);
}

/**
 * Replaces each secret by asterisks of the same length, so the announced length stays right. Only bytes that may begin
 * a secret wait for the next ones.
 */
export function redactStream(secret: string): Transform {
  const needle = Buffer.from(secret, "latin1");
  let held = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
      for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + needle.length))
        bytes.fill("*", at, at + needle.length);
      const keep = beginningAtEnd(bytes, needle);
      held = Buffer.from(bytes.subarray(bytes.length - keep));
      done(null, bytes.subarray(0, bytes.length - keep));
    },
    flush(done) {
      done(null, held);
    },
  });
}

/** How many bytes at the end are the beginning of the needle. */
function beginningAtEnd(bytes: Buffer, needle: Buffer): number {
  for (let size = Math.min(needle.length - 1, bytes.length); size > 0; size--)
    if (bytes.subarray(bytes.length - size).equals(needle.subarray(0, size))) return size;
  return 0;
}
