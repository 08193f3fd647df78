/** Commands that are Markdown files: `/name words` stands for the text of `name.md`. */
import { CommandError, usageError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { UserFile } from "./find-user-files.ts";
import { readMarkdown } from "./front-matter.ts";

export interface UserCommand {
  readonly name: string;
  readonly description: string;
  /** For example `[file]`. */
  readonly argumentHint: string | undefined;
  /** `provider:model`; absent: the model of the run. */
  readonly model: string | undefined;
  readonly origin: UserFile["origin"];
  readonly isTrusted: boolean;
  readonly path: string;
  readonly body: string;
}

/** Throws an error that names the file where one cannot be read. */
export function userCommands(files: readonly UserFile[]): readonly UserCommand[] {
  return files.map(({ name, path, text, origin, isTrusted }) => {
    try {
      const { fields, body } = readMarkdown(text);
      const field = (key: string): string | undefined =>
        typeof fields[key] === "string" && fields[key] !== "" ? (fields[key] as string) : undefined;
      const firstLine = body.split("\n").find((line) => line.trim() !== "") ?? "";
      const model = field("model");
      return {
        name,
        description: field("description") ?? safeLine(firstLine, 80),
        argumentHint: field("argument-hint"),
        model: model?.includes(":") ? model : undefined,
        ...{ origin, isTrusted, path, body },
      };
    } catch (error) {
      throw new CommandError(`${safeLine(path)}: ${safeLine((error as Error).message, 200)}.`);
    }
  });
}

export interface ExpandedCommand {
  readonly text: string;
  readonly command: UserCommand;
}

/** The text of `/name words`; undefined where the text is no command or nobody has such a one. */
export function expandCommand(text: string, commands: readonly UserCommand[]): ExpandedCommand | undefined {
  const [, name, words = ""] = /^\/([\w.:-]+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return undefined;
  if (!command.isTrusted)
    throw usageError(
      `The command '/${safeLine(command.name, 80)}' is ${safeLine(command.path)} of this directory, which you have not trusted as it is now.`,
      "Look at it and trust it: deepwright trust.",
    );
  return { text: filled(command.body, words.trim()).trim(), command };
}

/** `$ARGUMENTS` is all words, `$1` to `$9` are single ones. Where the text names none, the words stand behind it. */
function filled(body: string, words: string): string {
  const single = words.split(/\s+/);
  const isNamed = /\$(?:ARGUMENTS|[1-9])(?![0-9A-Za-z_])/.test(body);
  if (!isNamed) return words === "" ? body : `${body.trimEnd()}\n\n${words}`;
  return body.replace(/\$(ARGUMENTS|[1-9])(?![0-9A-Za-z_])/g, (_, key: string) =>
    key === "ARGUMENTS" ? words : (single[Number(key) - 1] ?? ""),
  );
}
