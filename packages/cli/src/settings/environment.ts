/** Settings that environment variables give. */

/** Variables by the setting they stand for. `list`: values with commas between them. */
export const SETTING_VARIABLES: readonly SettingVariable[] = [
  { name: "DEEPWRIGHT_MODEL", key: "model", kind: "text" },
  { name: "DEEPWRIGHT_FALLBACKS", key: "fallbacks", kind: "list" },
  { name: "DEEPWRIGHT_BASE_URL", key: "baseUrl", kind: "text" },
  { name: "DEEPWRIGHT_THEME", key: "theme", kind: "text" },
  { name: "DEEPWRIGHT_MODE", key: "mode", kind: "text" },
  { name: "DEEPWRIGHT_SANDBOX", key: "sandbox.kind", kind: "text" },
  { name: "DEEPWRIGHT_ALLOW_HOSTS", key: "sandbox.hosts", kind: "list" },
  { name: "DEEPWRIGHT_MAX_STEPS", key: "budget.maxSteps", kind: "number" },
  { name: "DEEPWRIGHT_MAX_COST", key: "budget.maxCost", kind: "number" },
  { name: "DEEPWRIGHT_MAX_TOKENS", key: "budget.maxTokens", kind: "number" },
  { name: "DEEPWRIGHT_MAX_SECONDS", key: "budget.maxSeconds", kind: "number" },
];

export interface SettingVariable {
  readonly name: string;
  /** With dots. */
  readonly key: string;
  readonly kind: "text" | "list" | "number";
}

/** The variables that are set, with their values as the schema takes them; an empty one is not set. */
export function settingsOfEnvironment(
  environment: NodeJS.ProcessEnv,
): readonly (readonly [SettingVariable, unknown])[] {
  return SETTING_VARIABLES.flatMap((variable) => {
    const text = environment[variable.name]?.trim();
    return text ? [[variable, readValue(text, variable.kind)] as const] : [];
  });
}

function readValue(text: string, kind: SettingVariable["kind"]): unknown {
  if (kind === "text") return text;
  if (kind === "number") return Number.isNaN(Number(text)) ? text : Number(text);
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}
