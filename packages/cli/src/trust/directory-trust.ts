/** Whether a directory's memory and skills may be instructions in a run, or are data. */
import type { BackendProtocol } from "deepwright";
import type { UntrustedSources } from "deepwright/internal";
import { quoted } from "../commands/thread-sandbox.ts";
import type { Knowledge } from "../run/knowledge.ts";
import { homeOf } from "../state/home.ts";
import {
  type InstructionFile,
  MEMORY,
  mainFiles,
  memoryFilesOf,
  ruleFiles,
  SKILLS,
  skillFiles,
  TooMuch,
  textHash,
} from "./instruction-files.ts";
import { openTrustRecord, type TrustedDirectory } from "./trust-record.ts";

export interface DirectoryTrust {
  /** Sources of the directory that are data in this run; empty where all is trusted, or there is nothing. */
  readonly untrusted: readonly string[];
  /** It was trusted as it was before. */
  readonly hasChanged: boolean;
  /** For the agent. It looks at the content itself: what changes during the run is not trusted. */
  readonly sources: UntrustedSources & {
    memory(path: string, text: string): boolean;
    skills(source: string): Promise<boolean>;
  };
}

export interface TrustRequest {
  /** Its real path. */
  readonly directory: string;
  readonly project: BackendProtocol;
  readonly knowledge: Knowledge;
  /** The person says so for this run. */
  readonly isTrusted: boolean;
}

export async function directoryTrust(
  { directory, project, knowledge, isTrusted }: TrustRequest,
  environment: NodeJS.ProcessEnv,
): Promise<DirectoryTrust> {
  const { memory, skills, mounts } = knowledge;
  const isOwn = (path: string): boolean => Object.keys(mounts).some((mount) => path.startsWith(mount));
  const found = [...memory, ...skills].filter((source) => !isOwn(source));
  const isOld = found.length > 0 && !isTrusted;
  const kept = isOld ? await openTrustRecord(homeOf(environment)).get(directory) : undefined;
  const known = found.length === 0 ? new Map() : await trustedFiles(project, kept, isTrusted, found);
  return {
    untrusted: known === undefined || (isOld && kept === undefined) ? found : [],
    hasChanged: known === undefined && kept !== undefined && kept.files.some(([path]) => isMain(path)),
    sources: {
      memory: (path, text) => !isOwn(path) && known?.get(path) !== textHash(text),
      skills: async (source) => !isOwn(source) && !(await isSame(project, source, known)),
    },
  };
}

/** Paths and hashes of what is trusted; undefined: the directory is not as it was then. */
async function trustedFiles(
  project: BackendProtocol,
  kept: TrustedDirectory | undefined,
  isTrusted: boolean,
  found: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  if (!isTrusted && kept === undefined) return new Map();
  const now = await mainFiles(project).catch(tooMuch);
  if (now === undefined) return undefined;
  if (isTrusted) {
    const named = found.filter((path) => !path.endsWith("/") && path !== MEMORY).map((path) => path.slice(1));
    return hashes([...now, ...(await ruleFiles(project)), ...(await memoryFilesOf(project, named))]);
  }
  const known = new Map(kept?.files);
  return changedFiles(known, now).length === 0 ? known : undefined;
}

/** Files that were changed, added or removed since; rules of directories below are looked at when an agent comes there. */
export function changedFiles(
  known: ReadonlyMap<string, string>,
  now: readonly InstructionFile[],
): readonly string[] {
  const current = hashes(now);
  const before = [...known.keys()].filter(isMain);
  return [...new Set([...before, ...current.keys()])].filter((path) => known.get(path) !== current.get(path));
}

function isMain(path: string): boolean {
  return path === MEMORY || SKILLS.some((source) => path.startsWith(`${source}/`));
}

async function isSame(
  project: BackendProtocol,
  source: string,
  known: ReadonlyMap<string, string> | undefined,
): Promise<boolean> {
  const now = known && (await skillFiles(project, source).catch(tooMuch));
  if (known === undefined || now === undefined) return false;
  const before = [...known.keys()].filter((path) => path.startsWith(source));
  return before.length === now.length && now.every(({ path, hash }) => known.get(path) === hash);
}

function hashes(files: readonly InstructionFile[]): ReadonlyMap<string, string> {
  return new Map(files.map(({ path, hash }) => [path, hash]));
}

function tooMuch(error: unknown): undefined {
  if (!(error instanceof TooMuch)) throw error;
}

/** One line; undefined where there is nothing to say. `given` is what the command line says for the directory. */
export function trustLine({ untrusted, hasChanged }: DirectoryTrust, given: string): string | undefined {
  if (untrusted.length === 0) return undefined;
  const why = hasChanged ? "Changed since you trusted it" : "Not trusted";
  const how = `deepwright trust${given === "." ? "" : ` ${quoted(given)}`}`;
  return `${why}: ${untrusted.map((path) => quoted(path)).join(", ")} ${untrusted.length > 1 ? "are" : "is"} data for the agent, not instructions. To look at it and trust it: ${how}`;
}
