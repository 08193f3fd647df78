/** A backend for files that runs commands too. */
import type { BackendProtocol, BackendRuntime, ExecuteOptions, ExecuteResponse } from "deepwright";
import { noteCommand, withMembers } from "deepwright/internal";
import type { Sandbox } from "../provider.ts";

/** Told of each file operation before it begins, with the paths that it may change, and what it returns of the end. */
export type Prepare = (changed: readonly string[]) => (isDone: boolean) => void;

/** Before each file operation `prepare` is called. */
export function withPreparation<Backend extends BackendProtocol>(files: Backend, prepare: Prepare): Backend {
  return withMembers(files, {}, (key, method) => {
    if (key === "withRuntime")
      return (runtime) => {
        const bound = method(runtime) as Backend | Promise<Backend>;
        return bound instanceof Promise
          ? bound.then((backend) => withPreparation(backend, prepare))
          : withPreparation(bound, prepare);
      };
    return async (...given) => {
      const settle = prepare(changedBy(key, given));
      let isDone = false;
      try {
        const result: unknown = await method(...given);
        isDone = (result as { readonly error?: string } | undefined)?.error === undefined;
        return result;
      } finally {
        settle(isDone);
      }
    };
  });
}

function changedBy(method: PropertyKey, [first]: readonly unknown[]): readonly string[] {
  if (method === "uploadFiles")
    return (first as readonly (readonly [string, unknown])[]).map(([path]) => path);
  return method === "write" || method === "edit" || method === "append" ? [String(first)] : [];
}

export interface AddedCommands {
  readonly id: string;
  readonly commandNote: string | undefined;
  /** Absent: that of the files. */
  readonly workingDirectory?: string;
  /** The directory that commands change, by which they are noted with a thread. */
  readonly noted: string;
  execute(command: string, options?: ExecuteOptions): Promise<ExecuteResponse>;
}

type Bindable = BackendProtocol & {
  withRuntime?(runtime: BackendRuntime): BackendProtocol | Promise<BackendProtocol>;
};

/** All that `files` offers, and commands; in a run, each command is noted with the thread. */
export function withCommands(files: BackendProtocol, commands: AddedCommands): Sandbox {
  const { id, commandNote, workingDirectory = files.workingDirectory } = commands;
  const own = {
    id,
    commandNote,
    closesPaths: true,
    workingDirectory,
    execute: (command: string, options?: ExecuteOptions) => commands.execute(command, options),
    withRuntime: (runtime: BackendRuntime) => {
      const noting: AddedCommands = {
        ...commands,
        execute: async (command, options) => {
          await noteCommand(command, commands.noted, runtime);
          return commands.execute(command, options);
        },
      };
      const bound = (files as Bindable).withRuntime?.(runtime) ?? files;
      return bound instanceof Promise
        ? bound.then((backend) => withCommands(backend, noting))
        : withCommands(bound, noting);
    },
  };
  return withMembers(files, own) as unknown as Sandbox;
}
