/** Permissions that a person gave for a directory. They lie in the user's own directory, where no project writes. */
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AllowRule } from "@deepwright/server";
import { homeOf } from "../../state/home.ts";

function pathOf(directory: string, environment: NodeJS.ProcessEnv): string {
  const key = createHash("sha256").update(directory).digest("hex").slice(0, 16);
  return join(homeOf(environment), "permissions", `${key}.json`);
}

/** A file that cannot be read gives none: then everything is asked about. */
export async function loadRules(
  directory: string,
  environment: NodeJS.ProcessEnv,
): Promise<readonly AllowRule[]> {
  try {
    const { rules } = JSON.parse(await readFile(pathOf(directory, environment), "utf8")) as {
      rules: unknown;
    };
    return Array.isArray(rules) ? rules.filter(isRule) : [];
  } catch {
    return [];
  }
}

export async function saveRule(
  rule: AllowRule,
  directory: string,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const path = pathOf(directory, environment);
  const rules = [...(await loadRules(directory, environment)), rule];
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, `${JSON.stringify({ directory, rules }, undefined, 2)}\n`, { mode: 0o600 });
}

function isRule(value: unknown): value is AllowRule {
  const { tool, prefix } = (value ?? {}) as { tool?: unknown; prefix?: unknown };
  return (
    typeof tool === "string" &&
    (prefix === undefined || (Array.isArray(prefix) && prefix.every((word) => typeof word === "string")))
  );
}
