/** Skills: instructions in files that the agent knows by name and reads when it needs them. */
import { StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { z } from "zod";
import { type BackendSource, mayUseState } from "../backends/resolve.ts";
import { filesValue, StateBackend } from "../backends/state.ts";
import { ConfigurationError } from "../errors.ts";
import { REMINDERS } from "../loop/reminders.ts";
import { hooksForStages } from "../loop/stage-hooks.ts";
import { STAGES, type WithStages } from "../loop/stages.ts";
import { canonicalPath } from "../paths.ts";
import type { SkillWarning } from "../skills/skill-metadata.ts";
import { createSkillStages } from "../skills/skills-stages.ts";
import { skillsMetadataValue } from "../skills/skills-value.ts";
import { type AgentDefaults, INHERIT, type WithInheritance } from "./inherit.ts";

/** null means absent. */
export interface SkillsMiddlewareOptions {
  /** Where the skills are; default: the backend of the agent, else the state of the thread. */
  readonly backend?: BackendSource | null;
  /**
   * Directories of skill directories, or skill directories themselves. Of two skills with one name that of the
   * later source counts.
   */
  readonly sources: readonly string[];
  /** Tokens the list in the system prompt may take; what does not fit is shortened, then counted. Default 1800, and no more than a tenth of the window. */
  readonly listTokens?: number | null;
  /** Gets each warning once; default: they are written to the console. */
  readonly onWarning?: ((warning: SkillWarning) => void) | null;
}

export type SkillsMiddleware = AgentMiddleware<
  StateSchema<{ skillsMetadata: typeof skillsMetadataValue; files: typeof filesValue }>
> &
  WithStages &
  WithInheritance;

export function createSkillsMiddleware(options: SkillsMiddlewareOptions): SkillsMiddleware {
  checkOptions(options);
  const backend = options.backend ?? new StateBackend();
  const stages = createSkillStages({
    backend,
    sources: options.sources,
    listTokens: options.listTokens ?? undefined,
    onWarning: options.onWarning ?? warnOnConsole,
  });
  return {
    name: "SkillsMiddleware",
    stateSchema: new StateSchema({
      skillsMetadata: skillsMetadataValue,
      [REMINDERS]: z.any(),
      ...(mayUseState(backend) ? { files: filesValue } : {}),
    }) as never,
    ...hooksForStages(stages),
    [STAGES]: stages,
    [INHERIT]: (defaults: AgentDefaults) =>
      createSkillsMiddleware({ ...options, backend: options.backend ?? defaults.backend ?? null }),
  };
}

function warnOnConsole({ code, message }: SkillWarning): void {
  console.warn(`[skills] ${message} (${code})`);
}

const OPTION_NAMES = ["backend", "sources", "listTokens", "onWarning"];

function checkOptions(options: SkillsMiddlewareOptions): void {
  const unknown = Object.keys(options).find((key) => !OPTION_NAMES.includes(key));
  if (unknown !== undefined)
    throw new ConfigurationError("UNKNOWN_OPTION", `createSkillsMiddleware has no option '${unknown}'.`, {
      hint: `Its options are: ${OPTION_NAMES.join(", ")}.`,
    });
  const { sources, listTokens } = options;
  if (!Array.isArray(sources))
    throw new ConfigurationError("INVALID_OPTION", "The option 'sources' must be a list of directories.");
  for (const source of sources) {
    const { error } = canonicalPath(source);
    if (error !== undefined)
      throw new ConfigurationError("INVALID_OPTION", `A skill source is not usable: ${error}.`, {
        hint: "Give directories as the backend knows them, e.g. '/skills/'.",
      });
  }
  if (listTokens != null && !(listTokens > 0))
    throw new ConfigurationError("INVALID_OPTION", "The option 'listTokens' must be more than 0.");
}
