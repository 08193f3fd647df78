/** Tools of a case as LangChain tools, bound to the world of one trial. */
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import { z } from "zod";
import type { CaseTool, World } from "../format/case-tool.ts";

/** `before` is called at the start of each run of a tool, with its number from 1; a crash of the trial begins there. */
export type BeforeToolEnds = (name: string, run: number) => Promise<void> | undefined;

export function caseTools(
  tools: readonly CaseTool[] | undefined,
  world: World,
  beforeEnd?: BeforeToolEnds,
): StructuredToolInterface[] {
  const runs = new Map<string, number>();
  return (tools ?? []).map(
    ({ name, description, parameters, run }) =>
      tool(
        async (args: unknown) => {
          const number = (runs.get(name) ?? 0) + 1;
          runs.set(name, number);
          const result = await run(args as Record<string, unknown>, world);
          await beforeEnd?.(name, number);
          return result;
        },
        { name, description, schema: z.fromJSONSchema(parameters as never) as never },
      ) as unknown as StructuredToolInterface,
  );
}
