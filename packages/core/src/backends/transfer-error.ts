import type { FileError, TransferErrorCode } from "./backend.ts";

/** The code an upload or download gives for a failure of a file operation. */
export function transferError({ code }: FileError): TransferErrorCode {
  if (code === "FILE_NOT_FOUND") return "file_not_found";
  if (code === "IS_DIRECTORY") return "is_directory";
  if (code === "NOT_A_DIRECTORY") return "parent_not_found";
  return code === "INVALID_PATH" ? "invalid_path" : "permission_denied";
}
