/** The task, from the command line, from stdin, or typed with stdin as its material. */
import { usageError } from "../command-error.ts";
import { bytes } from "../terminal/amounts.ts";

export interface Input extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean;
}

export interface TaskSource {
  readonly stdin: Input;
  /** Whether stdin is a pipe or a file. Otherwise it is not read beside a typed task. */
  readonly carries: boolean;
  /** Milliseconds to wait for the first byte beside a typed task: an inherited pipe may stay idle for ever. */
  readonly patience?: number;
}

export interface Task {
  readonly text: string;
  /** A note about stdin; absent if stdin was not used for a typed task. */
  readonly note?: { readonly words: string; readonly isWarning: boolean };
}

const MAX_BYTES = 1024 * 1024;
const PATIENCE = 2_000;

/** `words` as typed; `-` or nothing at all means stdin, unless that is a keyboard. */
export async function taskText(words: readonly string[], source: TaskSource): Promise<Task> {
  const typed = words.join(" ").trim();
  if (typed === "-" || (words.length === 0 && source.stdin.isTTY !== true))
    return { text: nonEmpty(await textOf(source.stdin), "The task read from stdin is empty.") };
  nonEmpty(typed, words.length === 0 ? "There is no task." : "The task is empty.");
  return source.carries ? withMaterial(typed, source) : { text: typed };
}

/** The same where a task may be left out: undefined when there is none. */
export async function optionalTaskText(
  words: readonly string[],
  source: TaskSource,
): Promise<Task | undefined> {
  if (words.length > 0) return taskText(words, source);
  if (source.stdin.isTTY === true) return undefined;
  const begun = await begin(source.stdin, source.patience ?? PATIENCE);
  const text = begun === undefined ? "" : await textOf(begun);
  return text === "" ? undefined : { text };
}

function nonEmpty(text: string, complaint: string): string {
  if (text !== "") return text;
  throw usageError(complaint, 'Say what to do: deepwright run "task"; see deepwright run --help.');
}

async function withMaterial(typed: string, { stdin, patience = PATIENCE }: TaskSource): Promise<Task> {
  const begun = await begin(stdin, patience);
  if (begun === undefined) {
    const words = `Nothing came on stdin within ${patience / 1000} s: it is not read. Use - to wait for it.`;
    return { text: typed, note: { words, isWarning: true } };
  }
  const material = await textOf(capped(begun));
  if (material === "") return { text: typed };
  const words = `Task: ${bytes(Buffer.byteLength(material))} from stdin added to it`;
  return { text: `${typed}\n\n${delimited(material)}`, note: { words, isWarning: false } };
}

type Pieces = AsyncIterable<string | Uint8Array>;

/** All of stdin once its first piece, or its end, is there; undefined when neither comes in time. */
async function begin(stdin: Input, milliseconds: number): Promise<Pieces | undefined> {
  const pieces = stdin[Symbol.asyncIterator]();
  const first = pieces.next();
  first.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  const result = await Promise.race([first, late]).finally(() => clearTimeout(timer));
  return result && resumed(result, pieces);
}

async function* resumed(
  first: IteratorResult<string | Uint8Array>,
  rest: AsyncIterator<string | Uint8Array>,
): Pieces {
  for (let item = first; !item.done; item = await rest.next()) yield item.value;
}

async function* capped(pieces: Pieces): Pieces {
  let size = 0;
  for await (const piece of pieces) {
    size += Buffer.byteLength(piece);
    if (size > MAX_BYTES)
      throw usageError(
        `Stdin holds more than ${bytes(MAX_BYTES)}, which is too much for a task.`,
        "Shorten it, or put it into files and name their directory with --in.",
      );
    yield piece;
  }
}

/** In tags that the text itself does not close. */
function delimited(material: string): string {
  let tag = "stdin";
  while (material.includes(`</${tag}>`)) tag += "-";
  return `<${tag}>\n${material}\n</${tag}>`;
}

async function textOf(pieces: Pieces): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of pieces)
    text += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
  return (text + decoder.decode()).trim();
}
