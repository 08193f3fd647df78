/** The system prompt of an app's agent: its mode and its workspace. */
import { basename } from "node:path";
import { ConfigurationError } from "deepwright";

/** `cowork`: works with a person. `acp`: leads subagents and combines their results. */
export type AgentMode = "cowork" | "acp";

/** Words for the system prompt by mode; the usual mode first. */
export const MODE_WORDS: Readonly<Record<AgentMode, string>> = {
  cowork: `You work side by side with the user, in a directory of theirs. They see what you do and can step in at any time.
Look before you change anything. Take small steps, and say in a line what a change is for before you make it.
When something is unclear and a look at the files does not settle it, ask. When the work is done, say what changed and what you did not check.`,
  acp: `You lead a group of subagents that work in a directory of the user's.
Split the work into parts that do not depend on each other, and hand each part over with all it needs: its goal, the files it is about, what to report.
Two parts must not change the same file. Check what comes back before you build on it, put the parts together yourself, and report once, as a whole.`,
};

/** Names the directory, and not where on the machine it lies. */
export function modePrompt(mode: AgentMode, workspaceDir: string): string {
  return `${MODE_WORDS[checkedMode(mode)]}\n\nThe workspace is the directory "${directoryName(workspaceDir)}", which file paths call \`/\`.`;
}

export function checkedMode(mode: AgentMode): AgentMode {
  if (Object.hasOwn(MODE_WORDS, mode)) return mode;
  throw new ConfigurationError("INVALID_OPTION", `There is no mode '${String(mode)}'.`, {
    hint: `The modes are: ${Object.keys(MODE_WORDS).join(", ")}.`,
  });
}

/** A name may hold anything, line ends too. */
function directoryName(workspaceDir: string): string {
  return basename(workspaceDir)
    .replace(/[^\p{L}\p{N} ._-]/gu, "_")
    .slice(0, 100);
}
