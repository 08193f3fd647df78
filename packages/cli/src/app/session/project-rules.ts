/**
 * Permissions that a person gave for a directory. They lie in the user's own directory, where no project writes. Each is a
 * file of its own, so that two apps that change them at once lose none.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AllowRule } from "@deepwright/server";
import { homeOf } from "../../state/home.ts";

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function placeOf(directory: string, environment: NodeJS.ProcessEnv): string {
  return join(homeOf(environment), "permissions", hashOf(directory));
}

function fileOf({ tool, prefix }: AllowRule): string {
  return `${hashOf(JSON.stringify([tool, prefix ?? null]))}.json`;
}

/** A file that cannot be read gives none: then calls are asked about. */
export async function loadRules(
  directory: string,
  environment: NodeJS.ProcessEnv,
): Promise<readonly AllowRule[]> {
  const place = placeOf(directory, environment);
  const names = (await readdir(place).catch(() => [])).filter((name) => name.endsWith(".json"));
  const rules = await Promise.all(names.sort().map((name) => ruleIn(join(place, name), directory)));
  return rules.filter((rule) => rule !== undefined);
}

async function ruleIn(path: string, directory: string): Promise<AllowRule | undefined> {
  try {
    const kept = JSON.parse(await readFile(path, "utf8")) as { directory: unknown; rule: unknown };
    return kept.directory === directory && isRule(kept.rule) ? kept.rule : undefined;
  } catch {
    return undefined;
  }
}

/** An app that reads at the same time sees the old file or the new one, never a part. */
export async function saveRule(
  rule: AllowRule,
  directory: string,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const place = placeOf(directory, environment);
  const { tool, prefix } = rule;
  const kept = { directory, rule: { tool, ...(prefix && { prefix }) } };
  await mkdir(place, { recursive: true, mode: 0o700 });
  const draft = join(place, `${randomUUID()}.new`);
  await writeFile(draft, `${JSON.stringify(kept, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, join(place, fileOf(rule)));
}

/** Nothing happens where it is not kept. */
export async function forgetRule(
  rule: AllowRule,
  directory: string,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  await rm(join(placeOf(directory, environment), fileOf(rule)), { force: true });
}

function isRule(value: unknown): value is AllowRule {
  const { tool, prefix } = (value ?? {}) as { tool?: unknown; prefix?: unknown };
  return (
    typeof tool === "string" &&
    (prefix === undefined || (Array.isArray(prefix) && prefix.every((word) => typeof word === "string")))
  );
}
