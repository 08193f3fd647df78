/** Splits a project's settings: what counts for everybody, and what counts once the person trusts the directory. Pure. */
import type { Settings } from "./schema.ts";

export interface Split {
  /** It changes looks, or makes rules stricter. */
  readonly harmless: Settings;
  /** Keys with dots that run or allow something; empty: nothing. */
  readonly held: readonly string[];
  /** Among them those that start programs or call servers. */
  readonly runs: readonly string[];
}

const HARMLESS = ["$schema", "model", "fallbacks", "theme", "statusLine", "notifications", "vim"] as const;

export function splitByPower(settings: Settings): Split {
  const harmless: Record<string, unknown> = {};
  for (const key of HARMLESS) if (settings[key] !== undefined) harmless[key] = settings[key];
  const held = (Object.keys(settings) as (keyof Settings)[])
    .filter((key) => !(HARMLESS as readonly string[]).includes(key))
    .filter((key) => key !== "commands" && key !== "permissions") as string[];
  const { commands, permissions = [] } = settings;
  if (commands) {
    const { allow = [], ...strict } = commands;
    harmless.commands = strict;
    if (allow.length > 0) held.push("commands.allow");
  }
  const strict = permissions.filter(({ mode }) => mode !== "allow");
  if (permissions.length > 0) harmless.permissions = strict;
  if (strict.length < permissions.length) held.push("permissions");
  if (settings.mode === "plan") {
    harmless.mode = settings.mode;
    held.splice(held.indexOf("mode"), 1);
  }
  return { harmless: harmless as Settings, held, runs: held.filter((key) => RUNNING.has(key)) };
}

const RUNNING: ReadonlySet<string> = new Set(["hooks", "mcpServers", "baseUrl"]);
