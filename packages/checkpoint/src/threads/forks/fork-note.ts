/** The row by which a thread is known as a finished fork. */
import { DeepwrightError } from "deepwright/errors";
import type { StoredImage } from "../../saver/file-image.ts";
import { FORK } from "../images.ts";
import type { ForkReport } from "./fork-types.ts";

export interface ForkNote {
  /** The directory that was copied, and the copy, which is gone. Both are only names here. */
  readonly root: string;
  readonly copy: string;
  readonly report: ForkReport;
}

/** The newest note; a fork that was forked has more than one. */
export async function forkNote(images: readonly StoredImage[]): Promise<ForkNote | undefined> {
  const row = images.findLast(({ place }) => place.startsWith(FORK));
  if (row === undefined) return undefined;
  const text = await row.after();
  return {
    root: row.place.slice(FORK.length),
    copy: row.path,
    report: typeof text === "string" ? reportIn(text) : {},
  };
}

/** Stored text may come from elsewhere: fields of another type are left out. */
function reportIn(text: string): ForkReport {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
  if (typeof found !== "object" || found === null) return {};
  const given = found as Record<string, unknown>;
  const numbers = ["seconds", "inputTokens", "outputTokens", "cost"].filter(
    (name) => typeof given[name] === "number",
  );
  const texts = ["model", "end"].filter((name) => typeof given[name] === "string");
  const { check } = given as { check?: Record<string, unknown> };
  const isCheck = typeof check?.command === "string" && typeof check.output === "string";
  return {
    ...Object.fromEntries([...numbers, ...texts].map((name) => [name, given[name]])),
    ...(isCheck && {
      check: {
        command: String(check.command),
        output: String(check.output),
        exitCode: typeof check.exitCode === "number" ? check.exitCode : null,
      },
    }),
  };
}

export function noFork(threadId: string): DeepwrightError {
  return new DeepwrightError(
    "INVALID_INPUT",
    `The thread '${threadId}' is not a finished fork, and changed no files here.`,
    {
      hint: "Forks are made by `deepwright run --best-of` and `forkThread`.",
    },
  );
}
