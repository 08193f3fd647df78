/** The common form of the file tools: checked paths, a backend for this call, errors in agreed words. */
import { Command } from "@langchain/langgraph";
import type { z } from "zod";
import { olderError } from "../backends/adapt/adapt-errors.ts";
import type {
  BackendProtocol,
  BackendRuntime,
  FileError,
  FilesUpdate,
  SkippedFile,
} from "../backends/backend.ts";
import { keepsRelativePaths } from "../backends/is-sandbox.ts";
import { withWorkspaceUse } from "../loop/approval-rules/call-inputs.ts";
import { withPathArguments } from "../loop/approval-rules/call-shape.ts";
import { type CanonicalPath, canonicalPath, showPath } from "../paths.ts";
import {
  type BuiltInTool,
  backendRuntime,
  builtInTool,
  failedCall,
  succeededCall,
  type ToolCallRuntime,
} from "./built-in-tool.ts";

export interface FileToolOptions {
  /** The backend for one call. */
  readonly backend: (runtime: BackendRuntime) => BackendProtocol | Promise<BackendProtocol>;
  /** Replaces our words for the model. */
  readonly description?: string;
  /** Directories the tool may touch; absent: all. */
  readonly allowedPrefixes?: readonly string[];
  /** Gets each canonical path and returns the one to use; the model reads the error that it throws. */
  readonly validatePath?: (path: string) => string;
  /** Matches grep returns when the model names no number; null: all. */
  readonly grepMaxCount?: number | null;
  /** Lets write_file replace a file. */
  readonly overwrite?: boolean;
}

/** Values that the behaviour of a file tool works with. */
export interface FileCall {
  readonly backend: BackendProtocol;
  readonly signal: AbortSignal | undefined;
  /** The one spelling of a path the model sent, if it may be used; absent means where relative paths lie. */
  locate(path: string | undefined): CanonicalPath;
}

/** Text for the model, why the call failed, or text with changes that the call itself must return. */
export type FileAnswer =
  | string
  | FileError
  | {
      readonly text: string;
      readonly filesUpdate: FilesUpdate | null | undefined;
      readonly metadata: Record<string, unknown> | undefined;
    }
  /** Content blocks in LangChain's standard form: words, then what they are about. */
  | { readonly blocks: readonly Readonly<Record<string, unknown>>[] };

interface FileToolDefinition<Schema extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly schema: Schema;
  readonly options: FileToolOptions;
  /** Its calls change files, and wait while a command runs that was approved with its files. */
  readonly changesFiles?: boolean;
  readonly run: (args: z.output<Schema>, call: FileCall) => Promise<FileAnswer>;
}

export function fileTool<Schema extends z.ZodType>(definition: FileToolDefinition<Schema>): BuiltInTool {
  const { name, schema, options, run } = definition;
  const tool = builtInTool({
    name,
    schema,
    effect: definition.changesFiles ? "files" : "reads",
    description: options.description ?? definition.description,
    run: async (args, runtime) => {
      const backend = await options.backend(backendRuntime(runtime));
      const call: FileCall = {
        backend,
        signal: runtime.signal,
        locate: (path) => usablePath(path, backend, options),
      };
      return answer(name, runtime, withWorkingDirectory(await run(args, call), backend));
    },
  });
  if (definition.changesFiles) withWorkspaceUse(tool, {});
  return withPathArguments(tool, PATH_ARGUMENTS);
}

const PATH_ARGUMENTS = ["file_path", "path"];

function answer(name: string, runtime: ToolCallRuntime, given: FileAnswer): unknown {
  if (typeof given === "string") return given;
  if ("error" in given) return failedCall(name, runtime, errorWords(given));
  if ("blocks" in given) return given.blocks;
  const { text, filesUpdate, metadata } = given;
  if (!filesUpdate && !metadata) return text;
  const message = succeededCall(name, runtime, text);
  if (metadata) message.metadata = metadata;
  return filesUpdate ? new Command({ update: { files: filesUpdate, messages: [message] } }) : message;
}

/** An error about a path outside names the directory of the files. */
function withWorkingDirectory(given: FileAnswer, { workingDirectory = "/" }: BackendProtocol): FileAnswer {
  if (typeof given === "string" || !("error" in given) || given.code !== "OUTSIDE_ROOT") return given;
  if (workingDirectory === "/") return given;
  return { ...given, error: `${given.error}. You work in ${showPath(workingDirectory)}: stay inside it` };
}

function usablePath(
  path: string | undefined,
  backend: BackendProtocol,
  { allowedPrefixes, validatePath }: FileToolOptions,
): CanonicalPath {
  const base = backend.workingDirectory ?? "/";
  const canonical = canonicalPath(path ?? base, { base, allowedPrefixes });
  if (canonical.error !== undefined) return canonical;
  if (validatePath === undefined && !allowedPrefixes) return asGiven(canonical.path, path, backend);
  if (validatePath === undefined) return canonical;
  let validated: unknown;
  try {
    validated = validatePath(canonical.path);
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error), code: "INVALID_PATH" };
  }
  if (typeof validated !== "string")
    return { error: `Path is not allowed: ${showPath(canonical.path)}`, code: "INVALID_PATH" };
  return canonicalPath(validated, { allowedPrefixes });
}

/** Relative paths stay relative for a sandbox that does not say where they lie. */
function asGiven(canonical: string, given: string | undefined, backend: BackendProtocol): CanonicalPath {
  const isRelative = keepsRelativePaths(backend) && !/^[\\/]/.test(given ?? "");
  return { path: isRelative ? canonical.slice(1) || "." : canonical };
}

/** Errors whose text needs no prefix; programs compare the beginning of the text. */
const WHOLE_SENTENCES = new Set<string>(["FILE_EXISTS", "INVALID_PATH", "PERMISSION_DENIED"]);

/** Backends written for other harnesses give no code: then the words tell. */
export function errorWords(given: FileError): string {
  if (given.error.startsWith("Error: ")) return given.error;
  const { code, error } = olderError(given.error, given.code);
  return WHOLE_SENTENCES.has(code) ? error : `Error: ${error}`;
}

/** A remark about what a listing or search could not read; `""` when there was nothing. */
export function skippedRemark(skipped: readonly SkippedFile[] | undefined): string {
  if (!skipped || skipped.length === 0) return "";
  const named = skipped.slice(0, 5).map((file) => `${showPath(file.path)} (${file.code})`);
  const more = skipped.length > named.length ? `, and ${skipped.length - named.length} more` : "";
  return `\n[Not read: ${named.join(", ")}${more}]`;
}
