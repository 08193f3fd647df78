/** Directories in an archive the engine unpacks: the only way to give a user without rights one before anything runs. */

export interface ArchivedDirectory {
  /** Without a slash at either end. */
  readonly path: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

const BLOCK = 512;
const CHECKSUM = { at: 148, length: 8 };

/** In the ustar format, with two empty blocks at its end. */
export function directoryArchive(directories: readonly ArchivedDirectory[]): Buffer {
  return Buffer.concat([...directories.map(headerOf), Buffer.alloc(2 * BLOCK)]);
}

function headerOf({ path, mode, uid, gid }: ArchivedDirectory): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(`${path}/`, 0, 100, "utf8");
  const octal = (value: number, at: number, length: number): void => {
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  };
  octal(mode, 100, 8);
  octal(uid, 108, 8);
  octal(gid, 116, 8);
  octal(0, 124, 12);
  octal(Math.floor(Date.now() / 1000), 136, 12);
  block.write(" ".repeat(CHECKSUM.length), CHECKSUM.at, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  block.write("5", 156, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, CHECKSUM.at, "latin1");
  return block;
}
