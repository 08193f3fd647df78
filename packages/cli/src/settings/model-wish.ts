/** The model that settings name, with words for where they do. */
import type { SettingsWish } from "../model/choose.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { LoadedSettings } from "./load-settings.ts";

/** Files alone: variables and flags are read where the model is chosen. */
export function settingsWish({
  settings,
  origins,
}: Pick<LoadedSettings, "settings" | "origins">): SettingsWish {
  const named = (key: "model" | "baseUrl") => {
    const [origin] = origins.get(key) ?? [];
    const value = settings[key];
    if (
      value === undefined ||
      origin === undefined ||
      origin.layer === "environment" ||
      origin.layer === "flags"
    )
      return undefined;
    return { value, source: `${key} in ${safeLine(origin.name)}` };
  };
  return { model: named("model"), baseUrl: named("baseUrl") };
}
