/** Places the files of a Harbor environment as its Dockerfile says. Nothing is built: other instructions need an image. Pure. */
import { posix } from "node:path";

/** Files by path: absolute in the environment, relative to the directory in tests. */
export type TaskFiles = Readonly<Record<string, Uint8Array>>;

export interface PlacedEnvironment {
  readonly files: TaskFiles;
  readonly workingDirectory: string;
  readonly env: Readonly<Record<string, string>>;
}

const DEFAULT_DIRECTORY = "/app";
const IGNORED = new Set([
  "FROM",
  "LABEL",
  "MAINTAINER",
  "EXPOSE",
  "CMD",
  "ENTRYPOINT",
  "SHELL",
  "STOPSIGNAL",
]);

/** With an image only its working directory and variables count: its files are there already. */
export function environmentOf(
  given: TaskFiles,
  hasImage: boolean,
): PlacedEnvironment | { readonly problem: string } {
  const compose = Object.keys(given).find((name) => /^(docker-)?compose\.ya?ml$/.test(name));
  if (compose !== undefined) return { problem: `environment/${compose} starts several containers` };
  const dockerfile = given.Dockerfile;
  const context = Object.fromEntries(Object.entries(given).filter(([name]) => name !== "Dockerfile"));
  if (dockerfile === undefined)
    return { files: below(DEFAULT_DIRECTORY, context), workingDirectory: DEFAULT_DIRECTORY, env: {} };
  const state = {
    directory: DEFAULT_DIRECTORY,
    files: {} as Record<string, Uint8Array>,
    env: {} as Record<string, string>,
  };
  for (const [name, rest] of instructionsOf(new TextDecoder().decode(dockerfile))) {
    const problem = apply(name, rest, state, context, hasImage);
    if (problem !== undefined) return { problem: `environment/Dockerfile: ${problem}` };
  }
  return { files: state.files, workingDirectory: state.directory, env: state.env };
}

interface State {
  directory: string;
  readonly files: Record<string, Uint8Array>;
  readonly env: Record<string, string>;
}

function apply(
  name: string,
  rest: string,
  state: State,
  context: TaskFiles,
  hasImage: boolean,
): string | undefined {
  if (name === "WORKDIR") state.directory = posix.resolve(state.directory, unquoted(rest));
  else if (name === "ENV") {
    const found = /^([A-Za-z_]\w*)(?:=|\s+)(\S+|"[^"]*")$/.exec(rest);
    if (found?.[1] === undefined) return `ENV with several variables is not read: ${rest}`;
    state.env[found[1]] = unquoted(found[2] ?? "");
  } else if (hasImage || IGNORED.has(name)) return undefined;
  else if (name === "COPY" || name === "ADD") return copy(rest, state, context);
  else
    return `${name} needs a container build. Build the image, and name it as environment.docker_image in task.toml`;
  return undefined;
}

function copy(rest: string, { directory, files }: State, context: TaskFiles): string | undefined {
  const words = rest.split(/\s+/);
  if (words.length < 2 || words.some((word) => /^--|[*?[$"]/.test(word)))
    return `COPY is not read in this form: ${rest}`;
  const target = words.at(-1) ?? "";
  for (const word of words.slice(0, -1)) {
    const source = posix.normalize(word).replace(/^\/+|\/+$/g, "");
    const isDirectory = source === "." || source === "" || !(source in context);
    const prefix = source === "." || source === "" ? "" : `${source}/`;
    const found = isDirectory ? Object.entries(context).filter(([path]) => path.startsWith(prefix)) : [];
    if (isDirectory && found.length === 0) return `COPY names '${word}', which is not there`;
    for (const [path, content] of found)
      files[posix.resolve(directory, target, path.slice(prefix.length))] = content;
    if (isDirectory) continue;
    const into = target.endsWith("/") || target === "." || words.length > 2;
    const place = into ? posix.join(target, posix.basename(source)) : target;
    files[posix.resolve(directory, place)] = context[source] as Uint8Array;
  }
  return undefined;
}

function below(directory: string, files: TaskFiles): TaskFiles {
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [posix.join(directory, path), content]),
  );
}

/** Name in capitals, and the rest of the line. Lines that end with `\` go on. */
function instructionsOf(text: string): readonly (readonly [string, string])[] {
  const lines = text.replace(/\\\r?\n/g, " ").split(/\r?\n/);
  return lines.flatMap((line) => {
    const found = /^\s*([A-Za-z]+)\s+(.*\S)\s*$/.exec(line);
    return found?.[1] === undefined || line.trim().startsWith("#")
      ? []
      : [[found[1].toUpperCase(), found[2] ?? ""] as const];
  });
}

function unquoted(text: string): string {
  return text.replace(/^"(.*)"$/, "$1").replace(/^'(.*)'$/, "$1");
}
