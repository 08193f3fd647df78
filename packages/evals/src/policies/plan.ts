/** The plan of a scripted model: what a competent model would do in a case. Behaviours spoil it. */

/** One tool call, described by its intention. */
export type Action =
  | { readonly do: "read"; readonly path: string; readonly offset?: number; readonly limit?: number }
  | { readonly do: "write"; readonly path: string; readonly content: string }
  | { readonly do: "edit"; readonly path: string; readonly from: string; readonly to: string }
  | { readonly do: "call"; readonly tool: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly do: "delegate"; readonly agent: string; readonly task: string; readonly plan: Plan }
  /** The structured answer, by whichever tool the harness offers for it. */
  | { readonly do: "structured"; readonly value: Readonly<Record<string, unknown>> };

/** Hints of a step for behaviours, which may do something else than its plain call. */
export interface Marks {
  /** The file, tool or text that a careless model takes first. */
  readonly wrongly?: Action;
  /** Text that the model searches for in a file where the harness put a long result. */
  readonly look?: string;
  /** The step is left out when the harness does not offer its tool. */
  readonly ifOffered?: boolean;
  /** A model goes on to the next step whatever comes back. */
  readonly whatever?: boolean;
}

export type Step =
  | (Action & Marks)
  /** Several calls in one turn. */
  | { readonly do: "together"; readonly steps: readonly (Action & Marks)[] }
  /** Ends the run with this text. */
  | { readonly do: "say"; readonly text: string }
  /** Ends the run with what the request shows: `$1` in `text` is the group of `find`; without a match the model does not know. */
  | { readonly do: "tell"; readonly find: RegExp; readonly text: string }
  /** Writes what the request shows. */
  | { readonly do: "note"; readonly find: RegExp; readonly path: string; readonly text: string };

export type Plan = readonly Step[];

export const read = (path: string, page: { offset?: number; limit?: number } = {}, marks: Marks = {}) =>
  ({ do: "read", path, ...page, ...marks }) as const;
export const write = (path: string, content: string, marks: Marks = {}) =>
  ({ do: "write", path, content, ...marks }) as const;
export const edit = (path: string, from: string, to: string, marks: Marks = {}) =>
  ({ do: "edit", path, from, to, ...marks }) as const;
export const call = (tool: string, args: Readonly<Record<string, unknown>> = {}, marks: Marks = {}) =>
  ({ do: "call", tool, args, ...marks }) as const;
export const delegate = (agent: string, task: string, plan: Plan, marks: Marks = {}) =>
  ({ do: "delegate", agent, task, plan, ...marks }) as const;
export const structured = (value: Readonly<Record<string, unknown>>, marks: Marks = {}) =>
  ({ do: "structured", value, ...marks }) as const;
export const together = (...steps: readonly (Action & Marks)[]) => ({ do: "together", steps }) as const;
export const say = (text: string) => ({ do: "say", text }) as const;
export const tell = (find: RegExp, text: string) => ({ do: "tell", find, text }) as const;
export const note = (find: RegExp, path: string, text: string) => ({ do: "note", find, path, text }) as const;

/** A call as it goes over the wire. */
export interface WireAction {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Argument text that does not parse, instead of `args`. */
  readonly raw?: string;
}

/** Stands for the tool of structured answers, whose name is the harness's own. */
export const STRUCTURED = "(structured answer)";

/** The call that a competent model makes for an action. */
export function wireOf(action: Action): WireAction {
  switch (action.do) {
    case "read": {
      const { path, offset, limit } = action;
      const page = { ...(offset === undefined ? {} : { offset }), ...(limit === undefined ? {} : { limit }) };
      return { name: "read_file", args: { file_path: path, ...page } };
    }
    case "write":
      return { name: "write_file", args: { file_path: action.path, content: action.content } };
    case "edit":
      return {
        name: "edit_file",
        args: { file_path: action.path, old_string: action.from, new_string: action.to },
      };
    case "delegate":
      return { name: "task", args: { description: action.task, subagent_type: action.agent } };
    case "call":
      return { name: action.tool, args: action.args };
    case "structured":
      return { name: STRUCTURED, args: action.value };
  }
}
