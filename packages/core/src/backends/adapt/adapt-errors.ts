/** Maps error texts of older backends to codes. */
import type { FileError, FileErrorCode } from "../backend.ts";

/** The first that fits decides. */
const MEANINGS: readonly (readonly [words: RegExp, code: FileErrorCode])[] = [
  [/string not found/i, "STRING_NOT_FOUND"],
  [/appears \d+ times/i, "STRING_NOT_UNIQUE"],
  [/invalid (?:regex|glob)? ?pattern|pattern is empty/i, "INVALID_PATTERN"],
  [/already exists|file exists/i, "FILE_EXISTS"],
  [/offset \d+ (?:exceeds|is past)|are the same|old_string is empty/i, "INVALID_ARGUMENT"],
  [/traversal|invalid[ _]path|path must|outside/i, "INVALID_PATH"],
  [/not a directory|is a file\b/i, "NOT_A_DIRECTORY"],
  [/is[ _]a?[ _]?directory/i, "IS_DIRECTORY"],
  [/permission[ _]denied|not (?:allowed|permitted)|forbidden/i, "PERMISSION_DENIED"],
  [/not[ _]found|no such file|does not exist/i, "FILE_NOT_FOUND"],
  [/is not a text file/i, "NOT_TEXT"],
  [/too large/i, "TOO_LARGE"],
];

/** `Error: ` at the beginning is for the tool to say. */
export function olderError(text: string, code?: unknown): Required<FileError> {
  const error = text.replace(/^Error: /, "");
  return { error, code: typeof code === "string" ? (code as FileErrorCode) : codeOf(error) };
}

/** Undefined where there was no error: older results say so in several ways. */
export function errorIn(result: {
  readonly error?: unknown;
  readonly code?: unknown;
}): FileError | undefined {
  return typeof result.error === "string" && result.error !== ""
    ? olderError(result.error, result.code)
    : undefined;
}

/** The code of a failure; without one, the code that its text implies. */
export function errorCode({ error, code }: FileError): FileErrorCode {
  return code ?? codeOf(error);
}

function codeOf(text: string): FileErrorCode {
  return MEANINGS.find(([words]) => words.test(text))?.[1] ?? "UNAVAILABLE";
}
