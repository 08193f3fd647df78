/** The front matter of many SKILL.md files, read with as few calls and bytes as the backend allows. */
import { errorCode } from "../backends/adapt/adapt-errors.ts";
import type { BackendProtocol, FileErrorCode, OperationOptions } from "../backends/backend.ts";
import { asHarness } from "../backends/harness-call.ts";
import { decodeText } from "../text/mime.ts";
import { type Candidate, HEAD_BYTES } from "./find-skills.ts";
import { frontMatterOf, MAX_FRONT_MATTER_LENGTH } from "./front-matter.ts";
import { MAX_SKILL_FILE_SIZE, type SkillWarningCode } from "./skill-metadata.ts";
import { type Fields, readFields } from "./yaml-fields.ts";

/** Files up to here are fetched whole where that takes one call for all of them. */
const SMALL_BYTES = 128 * 1024;
const PAGE_LINES = 100;
const AT_ONCE = 16;

/** Content of one file, or why it is not known. Neither depends on where the file is. */
export type Head =
  | Fields
  | { readonly code: SkillWarningCode; readonly reason: string }
  /** Nothing is there. */
  | { readonly isAbsent: true };

/** In the order of `candidates`. */
export async function readHeads(
  backend: BackendProtocol,
  candidates: readonly Candidate[],
  signal: AbortSignal | undefined,
): Promise<Head[]> {
  const options: OperationOptions = asHarness(signal ? { signal } : {});
  const texts = await downloaded(backend, candidates, options);
  const heads: Head[] = [];
  for (let start = 0; start < candidates.length; start += AT_ONCE) {
    const some = candidates.slice(start, start + AT_ONCE);
    const read = some.map((candidate) => readHead(backend, candidate, texts.get(candidate.path), options));
    heads.push(...(await Promise.all(read)));
  }
  return heads;
}

/** One call for all files that are small for sure; a file that did not come is not in the map. */
async function downloaded(
  backend: BackendProtocol,
  candidates: readonly Candidate[],
  options: OperationOptions,
): Promise<ReadonlyMap<string, string>> {
  const small = candidates.filter(
    ({ head, size }) => head === undefined && size !== undefined && size <= SMALL_BYTES,
  );
  if (small.length < 2 || backend.downloadFiles === undefined) return new Map();
  const paths = small.map(({ path }) => path);
  const responses = await backend.downloadFiles(paths, options);
  const texts = new Map<string, string>();
  for (const [index, { content }] of responses.entries()) {
    const text = content ? decodeText(content) : undefined;
    if (text !== undefined) texts.set(paths[index] as string, text);
  }
  return texts;
}

async function readHead(
  backend: BackendProtocol,
  { path, size, head, isGuess }: Candidate,
  text: string | undefined,
  options: OperationOptions,
): Promise<Head> {
  if (size !== undefined && size > MAX_SKILL_FILE_SIZE) return tooLarge(size);
  const known = text ?? (head !== undefined && isDecoded(head) ? head : undefined);
  if (known !== undefined) {
    const front = frontMatterOf(known);
    if (front.text !== undefined) return readFields(front.text);
    const isWhole = text !== undefined || (size !== undefined && size <= HEAD_BYTES);
    if (front.problem !== "open" || isWhole) return unusable(front.problem);
  }
  return readPages(backend, path, isGuess === true, options);
}

/** Bytes that are no UTF-8 are for the backend to make sense of. */
function isDecoded(head: string): boolean {
  return !head.slice(0, -3).includes("\uFFFD") && !head.includes("\0");
}

async function readPages(
  backend: BackendProtocol,
  path: string,
  isGuess: boolean,
  options: OperationOptions,
): Promise<Head> {
  let text = "";
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const page = await backend.read(path, offset, PAGE_LINES, options);
    if (page.error !== undefined)
      return isGuess && isNothing(errorCode(page)) ? { isAbsent: true } : unread(page.error);
    if (page.size !== undefined && page.size > MAX_SKILL_FILE_SIZE) return tooLarge(page.size);
    if (typeof page.content !== "string") return unread("it is not text");
    text += offset > 0 && !text.endsWith("\n") ? `\n${page.content}` : page.content;
    const front = frontMatterOf(text);
    if (front.text !== undefined) return readFields(front.text);
    const isOver = page.nextOffset === undefined || page.truncated || text.length > MAX_FRONT_MATTER_LENGTH;
    if (front.problem !== "open" || isOver)
      return unusable(page.truncated && front.problem === "open" ? "long" : front.problem);
    offset = page.nextOffset;
  }
  return unusable("open");
}

function isNothing(code: FileErrorCode): boolean {
  return code === "FILE_NOT_FOUND" || code === "NOT_A_DIRECTORY" || code === "INVALID_PATH";
}

const WHAT_IS_WRONG = {
  none: "it does not begin with front matter (a line `---`, then `name: …` and `description: …`, then `---`)",
  open: "its front matter has no end: a line `---` is missing",
  long: `its front matter is longer than ${MAX_FRONT_MATTER_LENGTH / 1024} KB`,
} as const;

function unusable(problem: keyof typeof WHAT_IS_WRONG): Head {
  return { code: "INVALID_FRONT_MATTER", reason: WHAT_IS_WRONG[problem] };
}

function unread(error: string): Head {
  return { code: "SKILL_UNREADABLE", reason: error };
}

function tooLarge(size: number): Head {
  const limit = MAX_SKILL_FILE_SIZE / 1024 / 1024;
  return { code: "SKILL_TOO_LARGE", reason: `it has ${size} bytes, more than ${limit} MB` };
}
