/** Uploads and downloads with some refused files: the others go to the inner backend in one call. */
import type { BackendProtocol, FileDownloadResponse, FileError, OperationOptions } from "./backend.ts";
import type { UploadResponses, Uploads } from "./forwarding-backend.ts";
import { transferError } from "./transfer-error.ts";

export interface Admitted {
  readonly inner: BackendProtocol;
  /** In the order of the paths: the path for the inner backend, or the refusal. */
  readonly targets: readonly (string | FileError)[];
  readonly options: OperationOptions | undefined;
}

/** Called once for each file; `refused`: the inner backend was not asked. */
export type OnTransfer = (path: string, problem: FileError | string | undefined, refused: boolean) => void;

export async function uploadAdmitted(
  files: Uploads,
  { inner, targets, options }: Admitted,
  onTransfer?: OnTransfer,
): Promise<UploadResponses> {
  const allowed = files.flatMap(([, bytes], index) => {
    const target = targets[index];
    return typeof target === "string" ? [[target, bytes] as const] : [];
  });
  const stored: UploadResponses =
    allowed.length === 0 ? [] : ((await inner.uploadFiles?.(allowed, options)) ?? []);
  const answers = stored[Symbol.iterator]();
  const responses: UploadResponses = files.map(([path], index) => {
    const refusal = refusalIn(targets[index]);
    const error = refusal ? transferError(refusal) : (answers.next().value ?? UNANSWERED).error;
    onTransfer?.(path, refusal ?? error ?? undefined, refusal !== undefined);
    return { path, error };
  });
  if (stored.filesUpdate) responses.filesUpdate = stored.filesUpdate;
  return responses;
}

export async function downloadAdmitted(
  paths: readonly string[],
  { inner, targets, options }: Admitted,
  onTransfer?: OnTransfer,
): Promise<FileDownloadResponse[]> {
  const allowed = targets.filter((target) => typeof target === "string");
  const read = allowed.length === 0 ? [] : ((await inner.downloadFiles?.(allowed, options)) ?? []);
  const answers = read[Symbol.iterator]();
  return paths.map((path, index) => {
    const refusal = refusalIn(targets[index]);
    const { content, error } = refusal
      ? { content: null, error: transferError(refusal) }
      : (answers.next().value ?? UNANSWERED);
    onTransfer?.(path, refusal ?? error ?? undefined, refusal !== undefined);
    return { path, content, error };
  });
}

/** For a file that the inner backend did not answer. */
const UNANSWERED = { content: null, error: "permission_denied" } as const;

function refusalIn(target: string | FileError | undefined): FileError | undefined {
  return typeof target === "string" ? undefined : target;
}
