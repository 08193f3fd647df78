/**
 * The files of the user's directory. Files made to hold keys are listed, but a model can neither read nor change them.
 */
import {
  type DeleteResult,
  type EditResult,
  type FileDownloadResponse,
  type FileError,
  FilesystemBackend,
  type GrepResult,
  type OperationOptions,
  type ReadRawResult,
  type ReadResult,
  withOpenCheck,
} from "deepwright";
import { isSecretPath } from "./secret-names.ts";

export class ProjectFiles extends FilesystemBackend {
  override async read(
    path: string,
    offset?: number,
    limit?: number,
    options?: OperationOptions,
  ): Promise<ReadResult> {
    return (
      (await this.secret("read", path, options)) ?? super.read(path, offset, limit, opened("read", options))
    );
  }

  override async readRaw(path: string, options?: OperationOptions): Promise<ReadRawResult> {
    return (await this.secret("read", path, options)) ?? super.readRaw(path, opened("read", options));
  }

  override async downloadFiles(
    paths: readonly string[],
    options?: OperationOptions,
  ): Promise<FileDownloadResponse[]> {
    const isSecret = await Promise.all(paths.map((path) => this.secret("read", path, options)));
    const files = await super.downloadFiles(
      paths.filter((_, i) => !isSecret[i]),
      opened("read", options),
    );
    const found = files.values();
    return paths.map((path, i) => {
      const file = isSecret[i] ? undefined : found.next().value;
      return file ?? { path, content: null, error: "permission_denied" };
    });
  }

  /** Leaves out matches in key files before it counts, so that not even `truncated` reveals one. */
  override async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: OperationOptions,
  ): Promise<GrepResult> {
    const secret = path ? await this.secret("read", path, options) : undefined;
    if (secret) return secret;
    const cap = maxCount && maxCount >= 1 ? Math.floor(maxCount) : undefined;
    let start = { asked: "", real: "" };
    const given = opened("read", options, (real, asked) => {
      start = { asked, real };
    });
    for (let most = (cap ?? 0) + 1; ; most *= 2) {
      const result = await super.grep(pattern, path, glob, cap === undefined ? null : most, given);
      if (result.error !== undefined) return result;
      const realOf = (one: string): string => start.real + one.slice(start.asked.length);
      const matches = result.matches.filter(
        (match) => !isSecretPath(match.path) && !isSecretPath(realOf(match.path)),
      );
      if (cap !== undefined && matches.length > cap)
        return { ...result, matches: matches.slice(0, cap), truncated: true };
      if (!result.truncated || result.timedOut || cap === undefined) return { ...result, matches };
    }
  }

  override async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
    options?: OperationOptions,
  ): Promise<EditResult> {
    const secret = await this.secret("write", path, options);
    return secret ?? super.edit(path, oldString, newString, replaceAll, opened("write", options));
  }

  override async delete(path: string, options?: OperationOptions): Promise<DeleteResult> {
    return (await this.secret("write", path, options)) ?? super.delete(path, opened("write", options));
  }

  /** Judged by the name that was given and by the file it leads to. */
  private async secret(
    act: "read" | "write",
    path: string,
    options?: OperationOptions,
  ): Promise<FileError | undefined> {
    const real = isSecretPath(path) ? path : await this.realPath(path, options);
    if (typeof real !== "string" || !isSecretPath(real)) return undefined;
    return refusal(act, path);
  }
}

/** Also checks the file that was opened: another program may change a link after the check of its name. */
function opened(
  act: "read" | "write",
  options: OperationOptions | undefined,
  note?: (real: string, asked: string) => void,
): OperationOptions {
  return withOpenCheck(options, {
    at: (real, asked) => {
      note?.(real, asked);
      return isSecretPath(real) ? refusal(act, asked) : undefined;
    },
  });
}

function refusal(act: "read" | "write", path: string): FileError {
  return {
    error: `Error: permission denied for ${act} on ${path}: files of this name hold secrets`,
    code: "PERMISSION_DENIED",
  };
}
