/** Subagents that are Markdown files: fields at the top, the system prompt below. */
import { ToolMessage } from "@langchain/core/messages";
import type { SubAgent } from "deepwright";
import { CommandError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { UserFile } from "./find-user-files.ts";
import { readMarkdown } from "./front-matter.ts";

/** Names of tools that other programs use, in ours. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  Read: "read_file",
  Write: "write_file",
  Edit: "edit_file",
  MultiEdit: "edit_file",
  Grep: "grep",
  Glob: "glob",
  LS: "ls",
  Bash: "execute",
  WebFetch: "fetch_url",
  WebSearch: "web_search",
  TodoWrite: "write_todos",
};

export interface UserAgent extends SubAgent {
  /** `provider:model`; the caller loads it. */
  readonly modelName: string | undefined;
}

/** Untrusted files are left out. Throws an error that names the file where one cannot be used. */
export function userAgents(files: readonly UserFile[]): readonly UserAgent[] {
  return files.filter(({ isTrusted }) => isTrusted).map(agentOf);
}

function agentOf({ name: fileName, path, text }: UserFile): UserAgent {
  const wrong = (words: string): CommandError => new CommandError(`${safeLine(path)}: ${words}.`);
  let markdown: ReturnType<typeof readMarkdown>;
  try {
    markdown = readMarkdown(text);
  } catch (error) {
    throw wrong(safeLine((error as Error).message, 200));
  }
  const { fields, body } = markdown;
  const { name = fileName, description, permissions } = fields;
  if (typeof name !== "string" || !/^[\w.-]{1,64}$/.test(name))
    throw wrong("'name' must be letters, digits, `-`, `_` and `.`, at most 64");
  if (typeof description !== "string" || description.trim() === "")
    throw wrong("'description' must say when the agent is to be used");
  if (permissions !== undefined && !Array.isArray(permissions))
    throw wrong("'permissions' must be a list of {operations, paths, mode}");
  const tools = toolNames(fields.tools);
  if (tools === undefined && fields.tools !== undefined)
    throw wrong("'tools' must be names with commas between them");
  return {
    name,
    description: description.trim(),
    systemPrompt: body.trim(),
    modelName: modelName(fields.model, path, wrong),
    ...(permissions && { permissions: permissions as NonNullable<SubAgent["permissions"]> }),
    ...(tools && { middleware: [onlyTools(tools)] }),
  };
}

/** Claude Code's short names of models mean the model of the run. */
function modelName(model: unknown, path: string, wrong: (words: string) => CommandError): string | undefined {
  if (model === undefined || model === "inherit") return undefined;
  if (typeof model === "string" && /^[^:\s]+:\S/.test(model)) return model;
  if (path.includes("/.claude/")) return undefined;
  throw wrong("'model' must be provider:model, for example openai:gpt-5.4, or inherit");
}

function toolNames(given: unknown): readonly string[] | undefined {
  const list = typeof given === "string" ? given.split(",") : given;
  if (!Array.isArray(list) || !list.every((name) => typeof name === "string")) return undefined;
  const names = list.map((name: string) => name.trim()).filter((name) => name !== "");
  return names.map((name) => OTHER_NAMES[name] ?? name);
}

interface ModelRequest {
  readonly tools?: readonly unknown[];
}

interface CallRequest {
  readonly toolCall: { readonly id?: string; readonly name: string };
}

/** The agent sees these tools alone, and calls of others do not run. */
function onlyTools(names: readonly string[]) {
  const isAllowed = (name: unknown): boolean =>
    names.some((one) => one === name || (one.endsWith("*") && String(name).startsWith(one.slice(0, -1))));
  return {
    name: "OnlyToolsMiddleware",
    wrapModelCall: <Request extends ModelRequest, Result>(
      request: Request,
      handler: (request: Request) => Result,
    ) =>
      handler({
        ...request,
        tools: (request.tools ?? []).filter((tool) => isAllowed((tool as { readonly name?: unknown }).name)),
      }),
    wrapToolCall: <Request extends CallRequest, Result>(
      request: Request,
      handler: (request: Request) => Result,
    ) => {
      const { id = "", name } = request.toolCall;
      if (isAllowed(name)) return handler(request);
      const content = `Error: This agent has no tool ${name}. Its tools are ${names.join(", ")}.`;
      return new ToolMessage({ content, tool_call_id: id, name, status: "error" });
    },
  };
}
