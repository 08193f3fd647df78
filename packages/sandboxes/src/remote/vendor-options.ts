/** Options that every cloud provider takes, and how they are read. */
import {
  COMMAND_KINDS,
  checkDirectory,
  handleOptions,
  type Kind,
  type OptionRules,
  type Present,
} from "../checked-options.ts";

export interface CommandOptions {
  /** Directory where commands start and relative paths are resolved; it is created when it is missing. */
  readonly workingDirectory?: string | null;
  /** Variables every command sees. */
  readonly env?: Readonly<Record<string, string>> | null;
  /** Seconds a command may take when the call names none; default 120. */
  readonly timeout?: number | null;
  /** Bytes of output kept, half from its beginning, half from its end; default 100,000. */
  readonly maxOutputBytes?: number | null;
}

/** Checked options, in which the options named `Settled` have their defaults. */
export type Settings<Options, Settled extends keyof Options> = Present<Omit<Options, Settled>> &
  Required<Present<Pick<Options, Settled>>>;

/** Checked options beside a sandbox that the caller made. */
export type HandleSettings<Options> = Present<Options> & { readonly workingDirectory: string };

export const DAY = 86_400;

/** `kinds` are a provider's own options beside the common ones. */
export function handleSettings<Options extends CommandOptions & { readonly sandbox: unknown }>(
  given: Options,
  of: string,
  defaultDirectory: string,
  kinds: Readonly<Record<string, Kind>> = {},
): HandleSettings<Options> {
  const rules = { of, kinds: { ...COMMAND_KINDS, ...kinds } } as unknown as OptionRules<
    Omit<Options, "sandbox">
  >;
  const options = handleOptions(given, rules);
  return { ...options, workingDirectory: directoryIn(options, defaultDirectory) };
}

export function directoryIn(
  options: Pick<CommandOptions, "workingDirectory">,
  defaultDirectory: string,
): string {
  return checkDirectory(options.workingDirectory ?? defaultDirectory);
}
