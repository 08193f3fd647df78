/** Counts edits that were reported as done and are not in the final files. */
import type { CallRecord, TrialOutput } from "../verifiers/verifier.ts";

export function lostEdits({ calls, files }: Pick<TrialOutput, "calls" | "files">): number {
  const done = calls.filter(
    ({ name, failed, result }) => name === "edit_file" && !failed && result !== undefined,
  );
  return done.filter((edit, index) => {
    const text = files[pathOf(edit)] ?? "";
    const added = newText(edit);
    if (added === "" || text.includes(added)) return false;
    return !done.slice(index + 1).some((later) => pathOf(later) === pathOf(edit) && overlaps(later, added));
  }).length;
}

/** A later edit of the same text explains why it is gone. */
function overlaps({ args }: CallRecord, text: string): boolean {
  const old = String(args.old_string ?? "");
  return old !== "" && (text.includes(old) || old.includes(text));
}

function pathOf({ args }: CallRecord): string {
  return String(args.file_path ?? args.path ?? "");
}

function newText({ args }: CallRecord): string {
  return String(args.new_string ?? "");
}
