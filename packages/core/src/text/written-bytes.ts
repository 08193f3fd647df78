/** Strings that are written to files which cannot be text. */
import { decodeBase64 } from "./base64.ts";
import { isTextType, mimeTypeOfName } from "./mime.ts";

const MEDIA = /^(?:image|audio|video)\/|^application\/(?:pdf$|.*powerpoint$|.*presentation$)/;
/** Whole groups of four, on one line or several. Words of a text have spaces between them. */
const BASE64 = /^(?:[A-Za-z0-9+/]+\r?\n)*[A-Za-z0-9+/]+={0,2}\s*$/;

/**
 * The bytes of `content` if it is base64 and the name of the file is that of a picture, sound, film, PDF or slides.
 * Undefined: it is written as text.
 */
export function writtenBytes(path: string, content: string): Uint8Array | undefined {
  const named = mimeTypeOfName(path);
  if (named === undefined || isTextType(named) || !MEDIA.test(named) || !BASE64.test(content))
    return undefined;
  const encoded = content.replace(/\s+/g, "");
  return encoded.length % 4 === 0 ? decodeBase64(encoded) : undefined;
}
