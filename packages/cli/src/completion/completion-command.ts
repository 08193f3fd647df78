/** Completion scripts, made from the tree of commands. Pure but for printing. */
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { CommandTree, Shell } from "./completion-command-line.ts";

export async function completionCommand(shell: Shell, tree: CommandTree): Promise<ExitCode> {
  process.stdout.write(completionScript(shell, tree));
  return EXIT.done;
}

export function completionScript(shell: Shell, tree: CommandTree): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](withApp(tree));
}

/** The program without a command is the app: it takes the options of `chat`. */
function withApp(tree: CommandTree): CommandTree {
  const own = new Set(tree.options.map(({ flag }) => flag));
  const app = tree.commands.find(({ name }) => name === "chat")?.options ?? [];
  return { ...tree, options: [...tree.options, ...app.filter(({ flag }) => !own.has(flag))] };
}

/** Each command by its path: `""` is the program itself, `threads list` one below. */
function paths(tree: CommandTree, prefix = ""): readonly (readonly [string, CommandTree])[] {
  return tree.commands.flatMap((command) => {
    const path = `${prefix}${command.name}`;
    return [[path, command] as const, ...paths(command, `${path} `)];
  });
}

function words({ commands, options }: CommandTree): string {
  return [...commands.map(({ name }) => name), ...options.map(({ flag }) => flag)].join(" ");
}

/** Files are offered where nothing of ours fits. */
function bashScript(tree: CommandTree): string {
  const cases = paths(tree).map(([path, command]) => `    "${path}") words="${words(command)}" ;;`);
  const known = paths(tree).map(([path]) => `"${path}"`);
  return `# Completion of deepwright for bash
_deepwright() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" next word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in ${known.join("|")}) path="$next" ;; esac
  done
  case "$path" in
${cases.join("\n")}
    *) words="${words(tree)}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _deepwright deepwright
`;
}

function zshScript(tree: CommandTree): string {
  const described = ({ commands, options }: CommandTree): string =>
    [
      ...commands.map(({ name, description }) => zshWord(name, description)),
      ...options.map(({ flag, description }) => zshWord(flag, description)),
    ].join(" ");
  const cases = paths(tree).map(([path, command]) => `    "${path}") offered=(${described(command)}) ;;`);
  const known = paths(tree).map(([path]) => `"${path}"`);
  return `#compdef deepwright
_deepwright() {
  local known="" next word
  local -a offered
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${known:+$known }$word"
    case "$next" in ${known.join("|")}) known="$next" ;; esac
  done
  case "$known" in
${cases.join("\n")}
    *) offered=(${described(tree)}) ;;
  esac
  _describe deepwright offered || _files
}
if [ "$funcstack[1]" = "_deepwright" ]; then _deepwright "$@"; else compdef _deepwright deepwright; fi
`;
}

function zshWord(name: string, description: string): string {
  return quoted(`${name.replaceAll(":", "\\:")}:${description}`);
}

function fishScript(tree: CommandTree): string {
  const top = tree.commands.map(({ name }) => name).join(" ");
  const lines = paths(tree).flatMap(([path, command]) => {
    const parents = path.split(" ").slice(0, -1);
    const siblings = path.includes(" ") ? "" : `; and not __fish_seen_subcommand_from ${top}`;
    const where = parents.length > 0 ? `__fish_seen_subcommand_from ${parents.at(-1)}` : `true${siblings}`;
    const inside = path
      .split(" ")
      .map((name) => `__fish_seen_subcommand_from ${name}`)
      .join("; and ");
    return [
      `complete -c deepwright -n ${quoted(where)} -a ${command.name} -d ${quoted(command.description)}`,
      ...command.options.map((option) => `complete -c deepwright -n ${quoted(inside)} ${fishOption(option)}`),
    ];
  });
  const none = quoted(`not __fish_seen_subcommand_from ${top}`);
  const own = [
    `complete -c deepwright -n ${none} -f`,
    ...tree.options.map((option) => `complete -c deepwright -n ${none} ${fishOption(option)}`),
  ];
  return `# Completion of deepwright for fish\n${[...own, ...lines].join("\n")}\n`;
}

function fishOption({ flag, description }: { flag: string; description: string }): string {
  const name = flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
  return `${name} -d ${quoted(description)}`;
}

/** One word for all three shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "’").replace(/\s+/g, " ")}'`;
}
