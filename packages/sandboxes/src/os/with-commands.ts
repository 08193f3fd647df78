/** A backend for files that runs commands too. */
import type { BackendProtocol, BackendRuntime, ExecuteOptions, ExecuteResponse } from "deepwright";
import { recordedCommand, withMembers } from "deepwright/internal";
import type { Sandbox } from "../provider.ts";

/** Called before each file operation with the paths it may change. The function it returns is called at the end. */
export type Prepare = (changed: readonly string[]) => (isDone: boolean) => void;

/** The same backend, with `prepare` called before each file operation. */
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
  /** Absent: the working directory of the files. */
  readonly workingDirectory?: string;
  /** The directory that commands change; a thread notes its commands under this name. */
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
        execute: (command, options) =>
          recordedCommand(
            command,
            commands.noted,
            runtime,
            () => commands.execute(command, options),
            options,
          ),
      };
      const bound = (files as Bindable).withRuntime?.(runtime) ?? files;
      return bound instanceof Promise
        ? bound.then((backend) => withCommands(backend, noting))
        : withCommands(bound, noting);
    },
  };
  return withMembers(files, own) as unknown as Sandbox;
}
