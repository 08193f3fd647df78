/** The answer of a download of several files. */
import { SandboxError, type TransferErrorCode } from "deepwright";

/** The bytes, or why not. */
export type Transferred = Uint8Array | TransferErrorCode;

/** In the order they were asked for; see `DOWNLOAD_MANY`. */
export function readDownloads(output: Buffer, count: number): Transferred[] {
  const lines = output.toString("latin1").split("\n");
  const files: Transferred[] = [];
  let at = 0;
  while (files.length < count) {
    const head = lines[at++];
    if (head === undefined || head === "") throw unreadable();
    if (head !== "64" && head !== "16") {
      files.push(head as TransferErrorCode);
      continue;
    }
    const end = lines.indexOf(".", at);
    if (end === -1) throw unreadable();
    const digits = lines.slice(at, end).join("").replace(/\s+/g, "");
    files.push(Buffer.from(digits, head === "64" ? "base64" : "hex"));
    at = end + 1;
  }
  return files;
}

function unreadable(): SandboxError {
  return new SandboxError("The container gave no usable answer to a download.", "FILE_OPERATION_FAILED");
}
