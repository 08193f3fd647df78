/** The state channel `files`: its schema and how changes are merged. */

import { ReducedValue } from "@langchain/langgraph";
import { z } from "zod";
import { cameIn, madeByLoop, stampOf } from "../../channel-values.ts";
import { isRecord } from "../../check-options.ts";
import { DeepwrightError } from "../../errors.ts";
import { type CanonicalPath, canonicalPath } from "../../paths.ts";
import { decodeText, isTextType } from "../../text/mime.ts";
import type { AnyFileData, FileData } from "../backend.ts";
import { fileIn, ownBytes } from "../file-map/file-map.ts";

export type FilesState = Record<string, AnyFileData>;
/** `null` removes a file; a text is a file with this content. */
export type FilesStateUpdate = Record<string, AnyFileData | string | null>;

/**
 * Merges changes into the files of a thread.
 *
 * Unchanged files stay the very same objects, and an empty `right` returns `left` itself: storage shares identical
 * objects. A file object that is given again counts as a change, because it may have been edited in place. Only files
 * that `right` names are read.
 */
export function filesReducer(
  left: FilesState | undefined,
  right: FilesStateUpdate | undefined | null,
): FilesState {
  return mergeFiles(left, [right]);
}

/** As `filesReducer` for one update after the other, with one new record for all of them. */
export function mergeFiles(
  left: FilesState | undefined,
  updates: readonly (FilesStateUpdate | undefined | null)[],
): FilesState {
  const changes = updates.flatMap((update) => (update ? Object.entries(update) : []));
  if (changes.length === 0) return left ?? {};
  const files = { ...left };
  let changed = left === undefined;
  for (const [key, given] of changes) {
    const path = keyOf(key);
    if (given === null || given === undefined) {
      changed ||= Object.hasOwn(files, path);
      delete files[path];
    } else {
      changed = true;
      const wasThere = fileIn(files, path) === given && stampOf(given) === undefined;
      files[path] = fileDataOf(path, given);
      cameIn(files[path], wasThere);
    }
  }
  if (!changed) return left as FilesState;
  madeByLoop(files);
  return files;
}

function keyOf(key: string): string {
  const { path, error } = filePath(key);
  if (error === undefined) return path;
  throw new DeepwrightError("INVALID_INPUT", `The state 'files' has an unusable path. ${error}.`);
}

function filePath(key: string): CanonicalPath {
  const canonical = canonicalPath(key);
  return canonical.path === "/" ? { error: "The root is a directory", code: "INVALID_PATH" } : canonical;
}

/** A text as the content of a file; any other value is unchanged. */
export function asFile<Data>(data: Data | string): Data | FileData {
  return typeof data === "string" ? ({ content: data } as FileData) : data;
}

/** The data if it is usable. A text becomes a file, and bytes with a text type become text. */
function fileDataOf(path: string, given: unknown): AnyFileData {
  if (typeof given === "string") return asFile<FileData>(given) as FileData;
  const problem = problemWith(given);
  if (problem !== undefined)
    throw new DeepwrightError("INVALID_INPUT", `The file '${path}' in the state 'files' ${problem}`);
  const data = given as FileData;
  if (!(data.content instanceof Uint8Array)) return data;
  const { content: bytes, mimeType } = data;
  const text = mimeType !== undefined && isTextType(mimeType) ? decodeText(bytes) : undefined;
  const content = text ?? ownBytes(bytes);
  return content === bytes ? data : { ...data, content };
}

function problemWith(given: unknown): string | undefined {
  if (typeof given === "string") return undefined;
  if (typeof given !== "object" || given === null)
    return `must be a text or an object like {content: "…"}, not ${typeof given}.`;
  const content = (given as { content?: unknown }).content;
  const usable =
    typeof content === "string" ||
    content instanceof Uint8Array ||
    (Array.isArray(content) && content.every((line) => typeof line === "string"));
  return usable ? undefined : "needs `content`: a string, or for older data a list of lines.";
}

const EMPTY: FilesState = Object.freeze({});

/** Both schemas pass the object through: nothing is copied, and stored files are not read. */
const valueSchema = z.custom<FilesState>(isRecord, "files must be an object of paths").default(EMPTY);
const inputSchema = z
  .any()
  .superRefine((files, context) => {
    if (files === undefined || files === null) return;
    if (!isRecord(files)) context.addIssue({ code: "custom", message: "files must be an object of paths" });
    else
      for (const [path, data] of Object.entries(files)) {
        const { error } = filePath(path);
        const problem = data === null ? undefined : problemWith(data);
        if (error !== undefined) context.addIssue({ code: "custom", message: error });
        else if (problem !== undefined)
          context.addIssue({ code: "custom", path: [path], message: `The file '${path}' ${problem}` });
      }
  })
  .optional() as z.ZodType<FilesStateUpdate | undefined>;

const jsonSchemaExtra = {
  type: "object",
  additionalProperties: {
    type: "object",
    properties: {
      content: { type: "string" },
      mimeType: { type: "string" },
      created_at: { type: "string" },
      modified_at: { type: "string" },
    },
    required: ["content"],
  },
};

/** Put under `files` in a state schema to let a `StateBackend` keep its files there. */
export const filesValue: ReducedValue<FilesState, FilesStateUpdate | undefined> = new ReducedValue(
  valueSchema,
  {
    inputSchema,
    reducer: filesReducer,
    jsonSchemaExtra,
  },
);
