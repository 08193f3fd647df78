/** Built-in profiles for families of models, independent of the provider. Registered profiles are merged over them. */
import { once } from "../once.ts";
import { createHarnessProfile } from "./create.ts";
import type { HarnessProfile } from "./types.ts";

interface Family {
  readonly name: string;
  readonly models: RegExp;
  readonly profile: () => HarnessProfile;
}

const BEGINNING = "(?:^|[/.:@-])";

const FAMILIES: readonly Family[] = [
  family(
    "claude",
    "claude-(?:[a-z]+-)?[4-9]",
    "Do what was asked and no more: no files, features or clean-ups nobody wanted. Read code before you speak of it or change it.",
  ),
  family(
    "gpt",
    "gpt-(?:[4-9]|oss)",
    "Go on until the task is done; do not stop to ask whether to take a step you can take yourself. Where something is unclear, choose the likeliest reading, say so, and carry on. No plans or progress reports in place of work.",
  ),
  family(
    "gemini",
    "gemini-(?:[2-9]|pro|flash)",
    "Call a tool instead of saying that you will. Copy paths, names and the text to be replaced exactly as tools showed them. After a change, look at what became of it before you go on.",
  ),
  family(
    "glm",
    "glm-(?:[4-9]|z)",
    "Call tools only through the tool interface, never as text in a message, and only those you were given. Answer in the language of the user. Stop when the task is done; do not repeat a call whose result you have.",
  ),
];

function family(name: string, models: string, systemPromptSuffix: string): Family {
  return {
    name,
    models: new RegExp(BEGINNING + models, "i"),
    profile: once(() => createHarnessProfile({ systemPromptSuffix })),
  };
}

export interface BuiltInProfile {
  readonly name: string;
  readonly profile: HarnessProfile;
}

/** By the name of the model alone: one family has many providers. */
export function builtInProfile(model: string): BuiltInProfile | undefined {
  const found = FAMILIES.find(({ models }) => models.test(model));
  return found && { name: found.name, profile: found.profile() };
}
