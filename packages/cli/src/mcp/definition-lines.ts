/** A server of a config file as a person must see it before agreeing to it. */
import type { McpServerDefinition, TrustRequest } from "@deepwright/mcp";
import { suspicions } from "deepwright/approval-warnings";
import { bytes } from "../terminal/amounts.ts";
import { revealedLine, wrapped } from "../terminal/revealed-text.ts";

/** In one line: the program and its words, or the address. */
export function definitionLine(definition: McpServerDefinition): string {
  if ("url" in definition) return oneLine(definition.url);
  if (!("command" in definition)) return "";
  return [definition.command, ...(definition.args ?? [])].map(quoted).map(oneLine).join(" ");
}

export type ShownServer = Pick<TrustRequest, "name" | "definition" | "variables" | "files" | "changed">;

/** All fields of the definition, then warnings about unusual ones. */
export function definitionLines(
  { name, definition, variables, files, changed }: ShownServer,
  width: number,
): readonly string[] {
  const facts = factsOf(definition).flatMap(([label, value]) =>
    wrapped(oneLine(value), width - label.length - 4).map((row, i) =>
      i === 0 ? `  ${label}: ${row}` : `  ${" ".repeat(label.length)}  ${row}`,
    ),
  );
  const texts: [string, string][] = [["name", name], ...factsOf(definition)];
  return [
    ...facts,
    ...fileLines(files, changed, width),
    ...(variables.length > 0 ? [`  receives from your environment: ${variables.join(", ")}`] : []),
    ...texts.flatMap(([label, text]) => suspicions(text).map((warning) => `  ! ${label}: ${warning}`)),
  ];
}

const NEWS = {
  changed: "changed since you agreed",
  new: "new since you agreed",
  gone: "gone since you agreed",
};

/** Files of the directory that the definition names, with their changes. */
function fileLines(
  files: ShownServer["files"],
  changed: ShownServer["changed"],
  width: number,
): readonly string[] {
  const news = new Map(changed.map(({ path, change }) => [path, NEWS[change]]));
  const there = files.map(({ path, bytes: size }): [string, string] => [path, bytes(size)]);
  const gone = changed
    .filter(({ change }) => change === "gone")
    .map(({ path }): [string, string] => [path, ""]);
  return [...there, ...gone].flatMap(([path, size]) => {
    const facts = [size, news.get(path)].filter(Boolean).join(", ");
    return wrapped(`file: ${oneLine(path)} (${facts})`, width - 2).map((row) => `  ${row}`);
  });
}

function factsOf(definition: McpServerDefinition): [string, string][] {
  if ("command" in definition)
    return [
      ["runs", [definition.command, ...(definition.args ?? [])].map(quoted).join(" ")],
      ...(definition.cwd === undefined ? [] : [["in", definition.cwd] as [string, string]]),
      ...pairs("with", definition.env, "="),
      ...(definition.dataFiles ?? []).map((path): [string, string] => ["may change", path]),
    ];
  if (!("url" in definition)) return [];
  return [
    ["calls", definition.url],
    ...pairs("sends", definition.headers, ": "),
    ...(definition.allowPrivate
      ? [["may reach", "this machine and private networks"] as [string, string]]
      : []),
  ];
}

function pairs(
  label: string,
  values: Readonly<Record<string, string>> | undefined,
  between: string,
): [string, string][] {
  return Object.entries(values ?? {}).map(([name, value]) => [label, `${name}${between}${value}`]);
}

/** Where one word ends and the next begins has to be seen. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function oneLine(text: string): string {
  return revealedLine(text.replaceAll("\n", "\\n"));
}
