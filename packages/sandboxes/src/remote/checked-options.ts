/** Checks of options that several vendors have. */
import { ConfigurationError, canonicalPath } from "deepwright";

/** Throws a `ConfigurationError` for what is no absolute path. */
export function checkDirectory(path: string): string {
  const canonical = path.startsWith("/") ? canonicalPath(path) : undefined;
  if (canonical !== undefined && canonical.error === undefined) return canonical.path;
  throw new ConfigurationError("INVALID_OPTION", `workingDirectory: '${path}' is no absolute path.`);
}

export function checkSeconds(name: string, value: number, most: number): void {
  if (value > 0 && value <= most) return;
  throw new ConfigurationError(
    "INVALID_OPTION",
    `${name}: ${value} is no number of seconds from 1 to ${most}.`,
  );
}
