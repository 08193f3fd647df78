/** The variables of a command: names without secrets, and the caller's own. */

const ALLOWED = new Set(["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TMPDIR", "TZ"]);
const USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface EnvironmentOptions {
  /** Added to the rest, and stronger. */
  readonly env?: Readonly<Record<string, string>> | null;
  /** Everything this process has, secrets included. */
  readonly inheritEnv?: boolean | null;
}

export function commandEnvironment(
  { env, inheritEnv }: EnvironmentOptions,
  own: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const taken = Object.entries(own).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (inheritEnv || ALLOWED.has(entry[0]) || entry[0].startsWith("LC_")),
  );
  return { PATH: USUAL_PATH, ...Object.fromEntries(taken), TERM: "dumb", ...env };
}
