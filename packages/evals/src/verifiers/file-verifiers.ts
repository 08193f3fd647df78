/** Verifiers of final files. */
import { failed, PASSED, type Verifier } from "./verifier.ts";

const LONGEST_QUOTE = 200;

/** The file has exactly this content; space at the end of the file does not count. */
export function fileEquals(path: string, content: string): Verifier {
  return {
    name: `${path} has the expected content`,
    check: ({ files }) => {
      const found = files[path];
      if (found === undefined) return missing(path);
      return found.trimEnd() === content.trimEnd()
        ? PASSED
        : failed(`${path} is ${quoted(found)}, expected ${quoted(content)}`);
    },
  };
}

export function fileContains(path: string, ...texts: readonly (string | RegExp)[]): Verifier {
  return {
    name: `${path} contains ${texts.join(" and ")}`,
    check: ({ files }) => {
      const found = files[path];
      if (found === undefined) return missing(path);
      const absent = texts.find((text) => !matches(found, text));
      return absent === undefined ? PASSED : failed(`${path} does not contain ${absent}: ${quoted(found)}`);
    },
  };
}

export function fileLacks(path: string, ...texts: readonly (string | RegExp)[]): Verifier {
  return {
    name: `${path} does not contain ${texts.join(" or ")}`,
    check: ({ files }) => {
      const found = files[path];
      if (found === undefined) return missing(path);
      const present = texts.find((text) => matches(found, text));
      return present === undefined ? PASSED : failed(`${path} still contains ${present}`);
    },
  };
}

export function fileMissing(path: string): Verifier {
  return {
    name: `${path} does not exist`,
    check: ({ files }) => (files[path] === undefined ? PASSED : failed(`${path} exists`)),
  };
}

/** No other file than these was added, changed or removed. `start` is the case's own `files`. */
export function onlyChanged(start: Readonly<Record<string, string>>, ...paths: readonly string[]): Verifier {
  return {
    name: `only ${paths.join(", ") || "nothing"} changed`,
    check: ({ files }) => {
      const all = new Set([...Object.keys(start), ...Object.keys(files)]);
      const other = [...all].find(
        (path) => !paths.includes(path) && !isOfHarness(path) && start[path] !== files[path],
      );
      return other === undefined ? PASSED : failed(`${other} changed, too`);
    },
  };
}

/** Harnesses keep long results and removed messages in files of their own. */
function isOfHarness(path: string): boolean {
  return /^\/(large_tool_results|conversation_history|\.deepwright)\//.test(path);
}

function matches(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === "string" ? text.includes(wanted) : wanted.test(text);
}

function missing(path: string) {
  return failed(`${path} does not exist`);
}

export function quoted(text: string): string {
  return JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);
}
