/** Whether a whole tree may be deleted: not if one thing in it may not. */
import { errorCode } from "../backends/adapt/adapt-errors.ts";
import type { BackendProtocol, OperationOptions } from "../backends/backend.ts";
import { asHarness } from "../backends/harness-call.ts";
import { nameOf } from "./guard-search.ts";
import { type Judge, worst } from "./judge.ts";
import type { PermissionMode } from "./rules.ts";

/** Looks into the tree only where a rule may fit something in it. Nothing is deleted here. */
export async function deletionMode(
  judge: Judge,
  inner: BackendProtocol,
  path: string,
  options?: OperationOptions,
): Promise<PermissionMode> {
  const own = await judge.mode("write", path, options);
  if (isDenied(own) || !judge.refuses("write")) return own;
  const view = await judge.below("write", path, options);
  if (!view.mayRefuse()) return own;
  // A guard further in must not hide entries from this one.
  const whole = asHarness(options);
  let mode: PermissionMode = own;
  const pending = [path];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    options?.signal?.throwIfAborted();
    const listing = await inner.ls(directory, whole);
    // A file has nothing below it; a path that cannot be listed may hold anything.
    if (listing.error !== undefined && isNoDirectory(errorCode(listing))) continue;
    if (listing.error !== undefined) return "deny";
    const hidden = (listing.skipped ?? []).map((file) => ({ path: file.path, is_dir: false }));
    for (const entry of [...listing.files, ...hidden]) {
      const name = nameOf(entry.path);
      mode = worst([mode, view.modeOf(name)]);
      if (isDenied(mode)) return mode;
      if (entry.is_dir && (await isOwnDirectory(inner, name, view.realOf(name), whole))) pending.push(name);
    }
  }
  return mode;
}

function isDenied(mode: PermissionMode): boolean {
  return mode === "deny";
}

function isNoDirectory(code: string): boolean {
  return code === "NOT_A_DIRECTORY" || code === "FILE_NOT_FOUND";
}

/** Deleting a link removes only the link. */
async function isOwnDirectory(
  inner: BackendProtocol,
  path: string,
  expected: string,
  options?: OperationOptions,
): Promise<boolean> {
  if (!inner.realPath) return true;
  return (await inner.realPath(path, options)) === expected;
}
