/** `deepwright completion`: prints a script for a shell. It knows the commands and options of the program itself. */
import { Argument, type Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

export type Shell = "bash" | "zsh" | "fish";

/** A command with its options and the commands below it. */
export interface CommandTree {
  readonly name: string;
  readonly description: string;
  readonly options: readonly { readonly flag: string; readonly description: string }[];
  readonly commands: readonly CommandTree[];
}

export type CompletionHandler = (shell: Shell, tree: CommandTree) => Promise<ExitCode>;

export function addCompletion(program: Command, handler: CompletionHandler): void {
  program
    .command("completion")
    .description("print a completion script for a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
    .action(async (shell: Shell) => {
      await handler(shell, treeOf(program));
    })
    .addHelpText("after", `\n${HELP}`);
}

function treeOf(command: Command): CommandTree {
  const options = command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, short, description }) =>
      [long, short].flatMap((flag) => (flag ? [{ flag, description }] : [])),
    );
  const commands = command.commands.map(treeOf);
  return { name: command.name(), description: command.description(), options, commands };
}

const HELP = `Put it where your shell finds it:
  bash  deepwright completion bash > ~/.local/share/bash-completion/completions/deepwright
  zsh   deepwright completion zsh > ~/.zfunc/_deepwright     (fpath+=(~/.zfunc) before compinit in ~/.zshrc)
  fish  deepwright completion fish > ~/.config/fish/completions/deepwright.fish`;
