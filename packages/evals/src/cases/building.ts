/** Small builders for tables of cases. */
import type { CaseTool, World } from "../format/case-tool.ts";
import type { EvalCase } from "../format/eval-case.ts";
import type { PolicyName } from "../policies/behaviours.ts";
import type { Plan } from "../policies/plan.ts";

type Given = Omit<EvalCase, "limits" | "script"> & {
  readonly policy: PolicyName;
  readonly plan: Plan;
  /** Model calls; default 15. */
  readonly calls?: number;
};

/** A case for a scripted model. */
export function scriptedCase({ policy, plan, calls = 15, ...given }: Given): EvalCase {
  return { ...given, limits: { modelCalls: calls }, script: { policy, plan } };
}

/** Sentences without a meaning, the same for the same seed. */
export function filler(words: number, seed = 1): string {
  const parts: string[] = [];
  let state = seed;
  for (let index = 0; index < words; index += 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const word = WORDS[state % WORDS.length] as string;
    parts.push(index % 12 === 11 ? `${word}.\n` : word);
  }
  return parts.join(" ");
}

/** Numbered lines with one line of your own in the middle. */
export function longFile(lines: number, at: number, line: string): string {
  return Array.from({ length: lines }, (_, index) =>
    index === at
      ? line
      : `line ${index + 1}: ${WORDS[(index * 7) % WORDS.length]} ${WORDS[(index * 3) % WORDS.length]}`,
  ).join("\n");
}

const WORDS =
  "river stone window garden paper silver morning road letter green table market winter number field water".split(
    " ",
  );

interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** Arguments with their JSON types; all are required. */
  readonly takes: Readonly<Record<string, "string" | "integer" | "number" | "boolean">>;
  readonly run: (args: Record<string, unknown>, world: World) => string;
}

/** A tool whose calls are listed in the world under its name. */
export function recordedTool({ name, description, takes, run }: ToolSpec): CaseTool {
  const properties = Object.fromEntries(Object.entries(takes).map(([key, type]) => [key, { type }]));
  return {
    name,
    description,
    parameters: { type: "object", properties, required: Object.keys(takes), additionalProperties: false },
    run: (args, world) => {
      world[name] = [...doneBy(world, name), args];
      return run(args, world);
    },
  };
}

/** Calls of a tool that reached it. */
export function doneBy(world: World, tool: string): readonly Record<string, unknown>[] {
  return (world[tool] ?? []) as Record<string, unknown>[];
}
