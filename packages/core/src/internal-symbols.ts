/**
 * The internal contract: what our own middleware, tools, state fields and backends tell each other under symbols.
 * Users never see these keys. The type of each value stands with the code that reads it, named below.
 * All are registered with `Symbol.for`, so that two copies of the package in one process understand each other.
 */

// On middleware.

/** `Stages` of a built-in middleware: `loop/contract/stages.ts`. The loop runs them; other loops get hooks instead. */
export const STAGES: unique symbol = Symbol.for("deepwright.stages") as never;

/** `(defaults) => middleware`: a copy whose unset options are those of the agent. Called by `stack.ts`. */
export const INHERIT: unique symbol = Symbol.for("deepwright.inherit") as never;

/** The subagents behind the tool `task`: `subagents/team.ts`. Read by `middleware/subagents.ts`. */
export const TEAM: unique symbol = Symbol.for("deepwright.team") as never;

/** A `CallGate` of the middleware: `loop/approval-rules/approval-policy.ts`. The loop adds it to its own gates. */
export const CALL_GATE: unique symbol = Symbol.for("deepwright.call-gate") as never;

/** The `Limits` of a budget: `middleware/budget.ts`. Read by `describe.ts`. */
export const LIMITS: unique symbol = Symbol.for("deepwright.limits") as never;

// On tools.

/** True on a tool that keeps its time limit by itself; the gate of tool calls does not stop it. */
export const KEEPS_TIME: unique symbol = Symbol.for("deepwright.keeps-time") as never;

/** Names of the arguments that are paths in the backend: `loop/approval-rules/call-shape.ts`. */
export const PATH_ARGUMENTS: unique symbol = Symbol.for("deepwright.path-arguments") as never;

/** How a tool uses the files of the thread: `loop/approval-rules/call-inputs.ts`. */
export const WORKSPACE_USE: unique symbol = Symbol.for("deepwright.workspace-use") as never;

/** The effect of a tool's calls, such as `reads`: `tools/tool-effect.ts`. */
export const EFFECT: unique symbol = Symbol.for("deepwright.effect") as never;

// On the schema of a tool.

/** Names of the arguments, and other names that the tool understands: `loop/failures/argument-words.ts`. */
export const ARGUMENT_NAMES: unique symbol = Symbol.for("deepwright.argument-names") as never;

// On fields of a state schema.

/** True on a field that callers can read but not set. Read by `loop/contract/channels.ts`. */
export const NOT_FOR_CALLERS: unique symbol = Symbol.for("deepwright.not-for-callers") as never;

// On backends, and on the options of a call to a backend.

/** Why a person must approve every call of the agent: `backends/approval-demand.ts`. Sandboxes with secrets set it. */
export const APPROVAL_DEMAND: unique symbol = Symbol.for("deepwright.approval-demand") as never;

/** A faster way to read one file name in all subdirectories: `backends/child-files.ts`. */
export const CHILD_FILES: unique symbol = Symbol.for("deepwright.child-files") as never;

/** Paths that shell commands can reach: `backends/command-reach.ts`. */
export const COMMAND_REACH: unique symbol = Symbol.for("deepwright.command-reach") as never;

/** True on a class whose results already have our form: `backends/adapt/foreign-results.ts`. */
export const GIVES_OUR_RESULTS: unique symbol = Symbol.for("deepwright.our-results") as never;

/** True in the options of a call that the harness makes itself: `backends/harness-call.ts`. */
export const HARNESS: unique symbol = Symbol.for("deepwright.harness") as never;

/** A check of the path after links were followed, in the options of a call: `backends/open-check.ts`. */
export const OPEN_CHECK: unique symbol = Symbol.for("deepwright.open-check") as never;
