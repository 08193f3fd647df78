/** Skills: instructions in files that the agent knows by name and reads when it needs them. */

import { StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { type BackendSource, mayUseState } from "../backends/resolve.ts";
import { filesValue, StateBackend } from "../backends/state/state.ts";
import { checkKind, checkNames } from "../check-options.ts";
import { warnOnConsole } from "../console-line.ts";
import { ConfigurationError } from "../errors.ts";
import { INHERIT } from "../internal-symbols.ts";
import type { WithStages } from "../loop/contract/stages.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";
import { REMINDERS, remindersValue } from "../loop/messages/reminders.ts";
import { canonicalPath, showPath } from "../paths.ts";
import type { SkillWarning } from "../skills/skill-metadata.ts";
import { createSkillStages } from "../skills/skills-stages.ts";
import { skillsMetadataValue } from "../skills/skills-value.ts";
import type { UntrustedSources } from "../subagents/defaults.ts";
import { withHome } from "./home-path.ts";
import { type AgentDefaults, inheritedBackend, type WithInheritance } from "./inherit.ts";

/** null means absent. */
export interface SkillsMiddlewareOptions {
  /** Where the skills are; default: the backend of the agent, else the state of the thread. */
  readonly backend?: BackendSource | null;
  /**
   * Directories of skill directories, or skill directories themselves. `~` is the user's home directory. If two skills
   * have the same name, the later source wins.
   */
  readonly sources: readonly string[];
  /**
   * Most tokens of the list in the system prompt. Entries that do not fit are shortened, then only counted. Default
   * 1800, at most a tenth of the window.
   */
  readonly listTokens?: number | null;
  /**
   * Untrusted skills are listed as data, outside the system prompt: paths of sources, or a function of a source that is
   * called whenever its skills are read. Default: none.
   */
  readonly untrusted?: UntrustedSources["skills"];
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
    sources: options.sources.map(withHome),
    listTokens: options.listTokens ?? undefined,
    isUntrusted: untrustedSkills(options.untrusted ?? []),
    onWarning: options.onWarning ?? ((warning) => warnOnConsole("skills", warning)),
  });
  const stateSchema = new StateSchema({
    skillsMetadata: skillsMetadataValue,
    [REMINDERS]: remindersValue(),
    ...(mayUseState(backend) ? { files: filesValue } : {}),
  }) as never;
  return {
    ...builtInMiddleware({ name: "SkillsMiddleware", stateSchema, stages }),
    [INHERIT]: (defaults: AgentDefaults) =>
      createSkillsMiddleware({
        ...options,
        backend: inheritedBackend(options.backend, defaults),
        untrusted: options.untrusted ?? defaults.untrusted?.skills ?? null,
      }),
  };
}

function untrustedSkills(
  untrusted: NonNullable<UntrustedSources["skills"]>,
): (source: string) => boolean | Promise<boolean> {
  if (typeof untrusted === "function") return async (source) => (await untrusted(source)) !== false;
  const paths = untrusted.map((path) => canonicalPath(withHome(path)).path);
  return (source) => paths.includes(canonicalPath(source).path);
}

const OPTION_NAMES = ["backend", "sources", "listTokens", "untrusted", "onWarning"];

function checkOptions(options: SkillsMiddlewareOptions): void {
  checkNames("createSkillsMiddleware", options, OPTION_NAMES);
  const { sources, listTokens, onWarning } = options ?? {};
  if (!Array.isArray(sources))
    throw new ConfigurationError("INVALID_OPTION", "The option 'sources' must be a list of directories.", {
      hint: 'For example ["/skills/"].',
    });
  for (const source of sources) checkSource(source);
  const { untrusted } = options;
  if (untrusted != null && typeof untrusted !== "function" && !Array.isArray(untrusted))
    throw new ConfigurationError("INVALID_OPTION", "The option 'untrusted' must be a list or a function.");
  checkKind("function", { onWarning });
  if (listTokens != null && !(typeof listTokens === "number" && listTokens > 0))
    throw new ConfigurationError("INVALID_OPTION", "The option 'listTokens' must be a number above 0.");
}

/** The words fit the option `skills` of an agent too. */
function checkSource(source: unknown): void {
  const { error } = canonicalPath(typeof source === "string" ? withHome(source) : (source as string));
  if (error === undefined) return;
  const message = `The skill directory '${showPath(String(source))}' cannot be used: ${error}.`;
  throw new ConfigurationError("INVALID_OPTION", message, {
    hint: "Give directories as the backend knows them, without `..`, e.g. '/skills/'.",
  });
}
