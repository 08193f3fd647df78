/** Behaviours of imperfect models: each is one way to spoil a plan, and what the model does with the answers. */
import { type Action, type Marks, type WireAction, wireOf } from "./plan.ts";

export interface Behaviour {
  readonly description: string;
  /** The first attempt at a step. Default: the right call, or the one marked `wrongly`. */
  readonly first?: (step: Action & Marks) => WireAction;
  /** Whether it follows advice in an error; default true. */
  readonly takesAdvice?: boolean;
  /** Whether it reads and searches by itself after an error without advice; default false. */
  readonly recovers?: boolean;
  /** How many times it repeats a failed call before it is stuck; default 1. */
  readonly patience?: number;
  /** Ends with an excuse, or goes on with the next step as if nothing had happened; default "gives up". */
  readonly whenStuck?: "gives up" | "goes on";
  /** Most repetitions of a successful call. The model stops earlier when a message says that it repeats itself. */
  readonly repeats?: number;
  /** Sends all edits that follow each other in one turn. */
  readonly editsTogether?: boolean;
  /** Reads on, page after page, to the end of every file. */
  readonly readsOn?: boolean;
  /** Says that it is done after this share of the plan, and goes on when somebody says more. */
  readonly doneAfter?: number;
}

export const POLICIES = {
  careful: {
    description: "Makes the right call; after an error it reads, searches and tries again.",
    recovers: true,
    patience: 2,
  },
  hasty: {
    description:
      "Acts from memory. Follows advice in an error; without advice it tries once more and gives up.",
  },
  "wrong-arguments": {
    description: "Names arguments wrongly and sends numbers as text, then corrects what the error names.",
    first: (step) => misnamed(wireOf(step.wrongly ?? step)),
    patience: 2,
  },
  "misnamed-tools": {
    description: "Writes names of tools in camel case, then takes a name that the error lists.",
    first: (step) => ({ ...wireOf(step), name: camelCase(wireOf(step).name) }),
  },
  "broken-json": {
    description: "Cuts the JSON of each first call off, and repeats the call when it hears that.",
    first: (step) => broken(wireOf(step)),
    patience: 2,
  },
  "gives-up": {
    description: "Ends at the first error that has no concrete advice.",
    patience: 0,
  },
  repeats: {
    description: "Makes each call again and again until it is told that it goes round in circles.",
    repeats: 40,
  },
  "ignores-instructions": {
    description: "Tries forbidden things first, ignores every refusal and goes on.",
    takesAdvice: false,
    patience: 0,
    whenStuck: "goes on",
  },
  "over-reads": {
    description: "Reads whole files, page after page to the end, before it does anything.",
    first: (step) => (step.do === "read" ? wireOf({ ...step, limit: 100_000 }) : wireOf(step)),
    readsOn: true,
    recovers: true,
  },
  "parallel-edits": {
    description: "Sends all edits of a file in one turn, and believes what the answers say.",
    editsTogether: true,
    recovers: true,
    patience: 2,
  },
  "done-early": {
    description:
      "Says that it is done after half of the work, and goes on only when it is told that work is left.",
    doneAfter: 0.5,
  },
} as const satisfies Record<string, Behaviour>;

export type PolicyName = keyof typeof POLICIES;

const USUAL_MISTAKES: Readonly<Record<string, string>> = {
  file_path: "path",
  content: "text",
  old_string: "old",
  new_string: "new",
  description: "prompt",
  subagent_type: "agent",
};

/** Names as another harness has them; unknown ones in camel case or with a suffix, numbers as text. */
function misnamed({ name, args }: WireAction): WireAction {
  const spoilt = Object.entries(args).map(([key, value]) => {
    const other = USUAL_MISTAKES[key] ?? (key.includes("_") ? camelCase(key) : `${key}_value`);
    return [other, typeof value === "number" ? String(value) : value];
  });
  return { name, args: Object.fromEntries(spoilt) };
}

function camelCase(name: string): string {
  const words = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return words === name ? `${name}Tool` : words;
}

function broken(action: WireAction): WireAction {
  const json = JSON.stringify(action.args);
  return { ...action, raw: json.length > 2 ? json.slice(0, -1) : "{" };
}
