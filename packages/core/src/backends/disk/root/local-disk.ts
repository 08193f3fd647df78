/** Whether a directory is on a local disk, where a short read means the end of the file. */
import { statfsSync } from "node:fs";

/** As Linux numbers them: ext, xfs, btrfs, tmpfs, overlay, zfs, f2fs. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010]);

export function isLocalDisk(path: string): boolean {
  if (process.platform !== "linux") return false;
  try {
    return LOCAL.has(statfsSync(path).type);
  } catch {
    return false;
  }
}
