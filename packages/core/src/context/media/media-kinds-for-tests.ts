/** Files of every kind an agent meets, small and real. */
import { crc32, deflateSync } from "node:zlib";

export interface FileOfKind {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Type that a careless tool claims. */
  readonly mimeType: string;
}

const latin = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const base64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

/** A grey picture; `seed` makes the bytes differ. */
export function png(width = 2, height = 2, seed = 0): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height, seed % 251);
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0;
  const noted = Buffer.from(`Comment\0${seed}`);
  const chunks = [chunk("IHDR", header), chunk("tEXt", noted), chunk("IDAT", deflateSync(rows))];
  const signature = latin("\x89PNG\r\n\x1a\n");
  return new Uint8Array(Buffer.concat([signature, ...chunks, chunk("IEND", Buffer.alloc(0))]));
}

function chunk(type: string, body: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type), body]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

const JPEG =
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=";
const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const WEBP = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==";
const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj
trailer<</Root 1 0 R>>
%\xe2\xe3\xcf\xd3
%%EOF
`;

function jpeg(): Uint8Array {
  return new Uint8Array(Buffer.concat([base64(JPEG), latin("\xff\xd9")]));
}

/** A GIF of two frames that repeats. */
export function movingGif(): Uint8Array {
  const still = base64(GIF);
  const head = still.subarray(0, 19);
  const loop = latin("!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0");
  return new Uint8Array(Buffer.concat([head, loop, still.subarray(19)]));
}

function wav(): Uint8Array {
  const bytes = Buffer.alloc(44 + 64, 128);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write("WAVEfmt ", 8, "latin1");
  bytes.set([16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0], 16);
  bytes.write("data", 36, "latin1");
  bytes.writeUInt32LE(64, 40);
  return new Uint8Array(bytes);
}

export const DAMAGED = png(40, 40, 9).subarray(0, 60);

/** By the word the tests use for the kind. */
export const KINDS: Readonly<Record<string, FileOfKind>> = {
  png: { name: "a.png", bytes: png(3, 2), mimeType: "image/png" },
  jpeg: { name: "b.jpg", bytes: jpeg(), mimeType: "image/jpeg" },
  gif: { name: "c.gif", bytes: base64(GIF), mimeType: "image/gif" },
  moving: { name: "c2.gif", bytes: movingGif(), mimeType: "image/gif" },
  webp: { name: "d.webp", bytes: base64(WEBP), mimeType: "image/webp" },
  svg: {
    name: "e.svg",
    bytes: latin("<svg xmlns='http://www.w3.org/2000/svg'/>"),
    mimeType: "image/svg+xml",
  },
  tiff: { name: "f.tiff", bytes: latin(`II*\0${"\x01\x80".repeat(40)}`), mimeType: "image/tiff" },
  bmp: { name: "f.bmp", bytes: latin(`BM\x40\0\0\0\0\0\0\0${"\x01\x80".repeat(40)}`), mimeType: "image/bmp" },
  heic: { name: "f.heic", bytes: latin(`\0\0\0\x18ftypheic${"\0\x80".repeat(40)}`), mimeType: "image/heic" },
  pdf: { name: "g.pdf", bytes: latin(PDF), mimeType: "application/pdf" },
  wav: { name: "h.wav", bytes: wav(), mimeType: "audio/wav" },
  mp3: {
    name: "h.mp3",
    bytes: latin(`ID3\x04\0\0\0\0\0\0${"\xff\xfb\x90\0".repeat(20)}`),
    mimeType: "audio/mpeg",
  },
  mp4: { name: "i.mp4", bytes: latin(`\0\0\0\x20ftypisom${"\0\x81".repeat(40)}`), mimeType: "video/mp4" },
  docx: {
    name: "j.docx",
    bytes: latin(`PK\x03\x04${"\0\x82".repeat(40)}`),
    mimeType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  },
  zip: { name: "j.zip", bytes: latin(`PK\x03\x04${"\0\x83".repeat(40)}`), mimeType: "application/zip" },
  sqlite: {
    name: "k.sqlite",
    bytes: latin(`SQLite format 3\0${"\x10\x84".repeat(40)}`),
    mimeType: "image/png",
  },
  exe: {
    name: "k.exe",
    bytes: latin(`MZ\x90\0${"\0\x85".repeat(40)}`),
    mimeType: "application/octet-stream",
  },
  damaged: { name: "l.png", bytes: DAMAGED, mimeType: "image/png" },
  misnamed: { name: "m.png", bytes: png(4, 4, 7), mimeType: "image/jpeg" },
  text: { name: "n.png", bytes: latin("These are words, whatever the name says.\n"), mimeType: "image/png" },
};
