/** A text as an object: in pieces when it is long, so that its versions share common pieces. */
import { bytePieces, cutText, isCut, textPieces } from "./chunks.ts";
import { asciiHash, Handle, KIND } from "./handle.ts";

/** Pieces that were met before, by hash. */
export interface KnownPieces {
  piece(hash: string): Handle | undefined;
  keepPiece(handle: Handle): void;
}

export function textHandle(text: string, known: KnownPieces): Handle {
  if (!text.isWellFormed()) return bytesHandle(Buffer.from(text, "utf16le"), KIND.text16, KIND.joinedText16);
  if (isCut(text)) {
    const isAscii = Buffer.byteLength(text) === text.length;
    return joined(isAscii ? asciiPieces(text, known) : otherPieces(text, known));
  }
  return text === "" ? joined([]) : new Handle(KIND.text, [], text);
}

/** For ASCII the cut bytes are the hashed bytes: nothing is encoded a second time. */
function asciiPieces(text: string, known: KnownPieces): Handle[] {
  const pieces: Handle[] = [];
  cutText(text, (start, end, units, place) => {
    const hash = asciiHash(units, place, place + end - start);
    pieces.push(known.piece(hash) ?? kept(new Handle(KIND.text, [], text.slice(start, end), 0, hash), known));
  });
  return pieces;
}

function otherPieces(text: string, known: KnownPieces): Handle[] {
  return textPieces(text).map((piece) => {
    const handle = new Handle(KIND.text, [], piece);
    return known.piece(handle.hash) ?? kept(handle, known);
  });
}

function kept(handle: Handle, known: KnownPieces): Handle {
  known.keepPiece(handle);
  return handle;
}

function joined(pieces: readonly Handle[]): Handle {
  return pieces.length === 1 ? (pieces[0] as Handle) : new Handle(KIND.joinedText, pieces, "");
}

export function bytesHandle(bytes: Uint8Array, kind: number, joinedKind: number): Handle {
  const pieces = bytePieces(bytes).map((piece) => new Handle(kind, [], new Uint8Array(piece)));
  return pieces.length === 1 ? (pieces[0] as Handle) : new Handle(joinedKind, pieces, "");
}
