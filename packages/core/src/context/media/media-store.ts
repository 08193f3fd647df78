/** Keeps the bytes of media on the agent's backend, each content once, under a name made of the content. */

import { readRawFile } from "../../backends/adapt/raw-file.ts";
import type { BackendProtocol, FilesUpdate, OperationOptions } from "../../backends/backend.ts";
import { bytesOf } from "../../backends/file-map/file-map.ts";
import type { StageTask } from "../../loop/contract/stages.ts";
import { REFERENCE } from "../../loop/request/request-media-block.ts";
import { decodeBase64, encodeBase64 } from "../../text/base64.ts";
import { mimeTypeOfName } from "../../text/mime.ts";
import { ownValue } from "../../text/own-value.ts";
import { areaPath, asHarness } from "../areas.ts";
import { writeFilesUpdate } from "../write-files-update.ts";

const AREA = "large_tool_results";
/** Digits of the SHA-256 that make a name: two contents never share one. */
const DIGITS = 32;
/** The ending of a file that holds base64, on a backend that takes text only. */
const ENCODED = ".b64";

export interface KeptMedia {
  readonly url: string;
  readonly sha: string;
}

/** Returns undefined if the backend refuses; throws its errors. */
export async function keepMedia(
  backend: BackendProtocol,
  task: StageTask,
  bytes: Uint8Array,
  type: { readonly mimeType: string; readonly filename: string | undefined },
): Promise<KeptMedia | undefined> {
  const sha = await hashOf(bytes);
  const path = areaPath(backend, AREA, `${sha}.${extensionOf(type)}`);
  const options = asHarness({ signal: task.signal });
  const kept = await put(backend, path, bytes, task, options);
  return kept === undefined ? undefined : { url: `${REFERENCE}${kept}`, sha };
}

/** Where the bytes lie now. */
async function put(
  backend: BackendProtocol,
  path: string,
  bytes: Uint8Array,
  task: StageTask,
  options: OperationOptions,
): Promise<string | undefined> {
  // A file is no directory: that is the cheapest way to learn that it is there.
  const listed = await backend.ls(path, options);
  if (listed.error !== undefined && listed.code === "NOT_A_DIRECTORY") return path;
  if (backend.uploadFiles) {
    const responses: readonly { error: unknown }[] & { filesUpdate?: FilesUpdate } =
      await backend.uploadFiles([[path, bytes]], options);
    writeFilesUpdate(task, responses.filesUpdate);
    if (responses[0]?.error === null) return path;
  }
  const encoded = `${path}${ENCODED}`;
  const written = await backend.write(encoded, encodeBase64(bytes), options);
  if (written.error !== undefined) return written.code === "FILE_EXISTS" ? encoded : undefined;
  writeFilesUpdate(task, written.filesUpdate);
  return encoded;
}

const NAME = new RegExp(`/${AREA}/(([0-9a-f]{${DIGITS}})\\.[a-z0-9]{1,8}(?:\\${ENCODED})?)$`);

/**
 * The bytes, if they are still the stored ones: a reference cannot be used to read any other file. Undefined for a
 * reference that is not ours, and for missing bytes.
 */
export async function loadMedia(
  backend: BackendProtocol,
  url: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const [, name, sha] = (url.startsWith(REFERENCE) && NAME.exec(url)) || [];
  if (name === undefined) return undefined;
  const options = asHarness({ signal });
  // The directory of the agent may have moved since.
  const paths = new Set([url.slice(REFERENCE.length), areaPath(backend, AREA, name)]);
  for (const path of paths) {
    const stored = await fetch(backend, path, options);
    const bytes = stored && name.endsWith(ENCODED) ? decodeBase64(new TextDecoder().decode(stored)) : stored;
    if (bytes !== undefined && (await hashOf(bytes)) === sha) return bytes;
  }
  return undefined;
}

async function fetch(
  backend: BackendProtocol,
  path: string,
  options: OperationOptions,
): Promise<Uint8Array | undefined> {
  if (backend.downloadFiles) {
    const [response] = await backend.downloadFiles([path], options);
    if (response?.content) return response.content;
  }
  const { data } = await readRawFile(backend, path, options);
  if (data === undefined) return undefined;
  return bytesOf(data);
}

async function hashOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes as BufferSource));
  const digits = Array.from(digest.subarray(0, DIGITS / 2), (byte) => byte.toString(16).padStart(2, "0"));
  return digits.join("");
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  "audio/mpeg": "mp3",
  "image/svg+xml": "svg",
  "text/plain": "txt",
  "video/quicktime": "mov",
};

/** From the name where it fits the type, else from the type. */
function extensionOf({
  mimeType,
  filename = "",
}: {
  mimeType: string;
  filename: string | undefined;
}): string {
  const own = filename.slice(filename.lastIndexOf(".") + 1).toLowerCase();
  if (/^[a-z0-9]{1,8}$/.test(own) && mimeTypeOfName(filename) === mimeType) return own;
  const subtype = mimeType.slice(mimeType.indexOf("/") + 1).replace(/^x-/, "");
  return ownValue(EXTENSIONS, mimeType) ?? (/^[a-z0-9]{1,8}$/.test(subtype) ? subtype : "bin");
}
