/** Why a run failed, in words for clients: no secret, no place on this machine. */
import { homedir, tmpdir } from "node:os";
import { withoutSecrets } from "deepwright/secrets";
import type { RunRecord } from "../records/records.ts";

const LONGEST = 2_000;

export type ErrorWords = (error: unknown) => NonNullable<RunRecord["error"]>;

export function createErrorWords(environment: Readonly<Record<string, string | undefined>>): ErrorWords {
  const places = [...new Set([process.cwd(), homedir(), tmpdir()])]
    .filter((place) => place.length > 1)
    .sort((a, b) => b.length - a.length);
  return (error) => {
    const { name, code, message } = (error ?? {}) as { name?: unknown; code?: unknown; message?: unknown };
    let text = withoutSecrets(typeof message === "string" ? message : String(error), environment);
    for (const place of places) text = text.replaceAll(place, "…");
    text = text.replaceAll(/(?:file:\/\/)?\/\S*node_modules\/\S*/g, "…");
    const kind = typeof code === "string" && /^[A-Z_]{3,}$/.test(code) ? code : name;
    return { error: typeof kind === "string" ? kind : "Error", message: text.slice(0, LONGEST) };
  };
}

/** Storage does not answer. */
export function isOutage(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "STORAGE_UNAVAILABLE" || code === "STORAGE_BUSY";
}

/** What the run answers was answered. */
export function isStaleAnswer(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "NOTHING_TO_RESUME" || code === "INVALID_RESUME";
}
