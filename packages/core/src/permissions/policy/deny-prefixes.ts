/** Changes that a policy refuses below its prefixes, by the permission rules. Paths are canonical. */
import type { BackendProtocol, FileError, OperationOptions } from "../../backends/backend.ts";
import { ConfigurationError } from "../../errors.ts";
import { canonicalPath } from "../../paths.ts";
import { Judge } from "../judge.ts";
import { literalPattern } from "../patterns.ts";
import type { Rule } from "../rules.ts";

/** Operations that change files, by the word a refusal begins with. */
export const CHANGES = {
  write: "Writes",
  append: "Writes",
  upload: "Writes",
  edit: "Edits",
  delete: "Deletes",
} as const;

export type ChangeOperation = keyof typeof CHANGES;

/** Directories without their slash, each once. */
export function checkedPrefixes(given: readonly string[] | null | undefined): readonly string[] {
  return (given ?? []).map((prefix) => {
    const { path, error } = canonicalPath(prefix);
    if (error === undefined) return path;
    throw new ConfigurationError("INVALID_OPTION", `denyPrefixes has an invalid path. ${error}`);
  });
}

/** The refusal of a change, links followed. A directory that holds a denied one cannot be deleted either. */
export async function deniedChange(
  backend: BackendProtocol,
  operation: ChangeOperation,
  path: string,
  prefixes: readonly string[],
  options?: OperationOptions,
): Promise<FileError | undefined> {
  for (const prefix of prefixes) {
    const judge = new Judge(backend, [denyRule(prefix)]);
    const mode = await judge.mode("write", path, options);
    const holds = operation === "delete" && (await judge.below("write", path, options)).mayRefuse();
    if (mode !== "allow" || holds) return denied(operation, prefix);
  }
  return undefined;
}

export function denied(operation: ChangeOperation, prefix: string): FileError {
  return { error: `${CHANGES[operation]} are not allowed under ${prefix}`, code: "PERMISSION_DENIED" };
}

function denyRule(prefix: string): Rule {
  return {
    permission: { operations: ["write"], paths: [prefix], mode: "deny" },
    index: 0,
    operations: new Set(["write"]),
    mode: "deny",
    patterns: [literalPattern(prefix)],
  };
}
