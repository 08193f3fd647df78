/** From sources to the skills in them. */
import type { BackendProtocol, BackendRuntime } from "../backends/backend.ts";
import { type BackendSource, bindBackend, makeBackend } from "../backends/resolve.ts";
import { StateBackend } from "../backends/state/state.ts";
import { canonicalPath, parentPath } from "../paths.ts";
import { type Candidate, findSkillFiles, SKILL_FILE } from "./find-skills.ts";
import { type HeadCache, headCacheFor } from "./head-cache.ts";
import { type Head, readHeads } from "./read-heads.ts";
import {
  type CheckedSkill,
  checkSkill,
  type SkillMetadata,
  type SkillWarning,
  warning,
} from "./skill-metadata.ts";

/** The skills of one source that no later source has replaced, sorted by path. */
export interface SkillGroup {
  readonly source: string;
  readonly skills: readonly SkillMetadata[];
}

export interface Catalog {
  /** The last source comes first; its skills win. */
  readonly groups: readonly SkillGroup[];
  readonly warnings: readonly SkillWarning[];
  /** Canonical. */
  readonly sources: readonly string[];
}

interface LoadedSource {
  readonly source: string;
  readonly candidates: readonly Candidate[];
  readonly heads: readonly Head[];
  readonly warnings: readonly SkillWarning[];
}

/** The last few catalogs of this process, for agents that come after each other with the same skills. */
const recent: { loaded: readonly LoadedSource[]; readonly catalog: Catalog }[] = [];
const MAX_RECENT = 16;

/** As long as no file changed, the catalog of the same sources is the same object. */
export class SkillLoader {
  readonly #backend: BackendSource;
  readonly #sources: readonly string[];

  constructor(backend: BackendSource | undefined, sources: readonly string[]) {
    this.#backend = backend ?? new StateBackend();
    this.#sources = sources;
  }

  async load(runtime: BackendRuntime, signal?: AbortSignal): Promise<Catalog> {
    const instance = await makeBackend(this.#backend, runtime);
    const backend = await bindBackend(instance, runtime);
    const cache = headCacheFor(instance);
    const loaded = await Promise.all(
      this.#sources.map((source) => loadSource(backend, sourcePath(source, backend), cache, signal)),
    );
    const known = recent.find((one) => isSame(one.loaded, loaded));
    if (known !== undefined) {
      // The next time these very lists may come again.
      known.loaded = loaded;
      return known.catalog;
    }
    const catalog = catalogOf(loaded);
    if (cache.isLasting && recent.unshift({ loaded, catalog }) > MAX_RECENT) recent.pop();
    return catalog;
  }
}

/** Checked when the middleware was made. */
function sourcePath(source: string, backend: BackendProtocol): string {
  return canonicalPath(source, { base: backend.workingDirectory ?? "/" }).path ?? source;
}

/** A list of candidates that a backend gives twice is of files that did not change. */
const loadedBefore = new WeakMap<readonly Candidate[], LoadedSource>();

async function loadSource(
  backend: BackendProtocol,
  source: string,
  cache: HeadCache,
  signal: AbortSignal | undefined,
): Promise<LoadedSource> {
  const now = Date.now();
  const { candidates, warnings } = await findSkillFiles(backend, source, {
    isKnown: (stamp) => cache.has(stamp),
    signal,
  });
  const before = loadedBefore.get(candidates);
  if (before?.source === source) return before;
  const known = candidates.map((candidate) => cache.get(candidate));
  if (isComplete(known)) {
    const loaded = { source, candidates, heads: known, warnings };
    loadedBefore.set(candidates, loaded);
    return loaded;
  }
  const unknown = candidates.filter((_, index) => known[index] === undefined);
  const read = await readHeads(backend, unknown, signal);
  for (const [index, head] of read.entries()) cache.keep(unknown[index] as Candidate, head, now);
  let next = 0;
  const heads = known.map((head) => head ?? (read[next++] as Head));
  return { source, candidates, heads, warnings };
}

function isComplete(heads: readonly (Head | undefined)[]): heads is readonly Head[] {
  return !heads.includes(undefined);
}

/** By the very objects in the cache, which stand for one content. */
function isSame(before: readonly LoadedSource[], after: readonly LoadedSource[]): boolean {
  return before.length === after.length && before.every((one, index) => isSameSource(one, after[index]!));
}

function isSameSource(one: LoadedSource, other: LoadedSource): boolean {
  if (one === other) return one.warnings.length === 0;
  return (
    one.source === other.source &&
    one.heads.length === other.heads.length &&
    one.warnings.length + other.warnings.length === 0 &&
    one.heads.every((head, i) => head === other.heads[i]) &&
    one.candidates.every((candidate, i) => candidate.path === other.candidates[i]?.path)
  );
}

function catalogOf(loaded: readonly LoadedSource[]): Catalog {
  const warnings: SkillWarning[] = [];
  const taken = new Set<string>();
  const groups: SkillGroup[] = [];
  for (const one of loaded.toReversed()) {
    const checked = one.candidates.map((candidate, i) => checkedSkill(candidate, one.heads[i] as Head));
    warnings.push(...one.warnings, ...checked.flatMap((result) => result.warnings));
    const found = checked.flatMap(({ skill }) => skill ?? []);
    const hasWarnings = one.warnings.length > 0 || checked.some((result) => result.warnings.length > 0);
    if (found.length === 0 && !hasWarnings) warnings.push(emptySource(one.source));
    const skills = lastOfEachName(found, warnings).filter(({ name }) => !taken.has(name));
    for (const { name } of skills) taken.add(name);
    groups.push({ source: one.source, skills });
  }
  return { groups, warnings, sources: loaded.map(({ source }) => source) };
}

function checkedSkill({ path }: Candidate, head: Head): CheckedSkill {
  if ("isAbsent" in head) return { warnings: [] };
  if ("code" in head) return { warnings: [warning(head.code, path, `was skipped: ${head.reason}`)] };
  if (head.problem !== undefined)
    return {
      warnings: [
        warning("INVALID_FRONT_MATTER", path, `was skipped: its front matter is unusable, ${head.problem}`),
      ],
    };
  const directory = parentPath(path);
  const result = checkSkill(head.fields, path, directory.slice(directory.lastIndexOf("/") + 1));
  if (head.quoted === undefined) return result;
  const what = `is not valid YAML: put the value of '${head.quoted.join("', '")}' in quotes`;
  return { ...result, warnings: [warning("SKILL_IRREGULAR", path, what), ...result.warnings] };
}

/** Within one source two skills of one name are a mistake; the later path counts. */
function lastOfEachName(found: readonly SkillMetadata[], warnings: SkillWarning[]): readonly SkillMetadata[] {
  const byName = new Map<string, SkillMetadata>();
  for (const skill of found) {
    const other = byName.get(skill.name);
    if (other !== undefined)
      warnings.push(
        warning("SKILL_IRREGULAR", other.path, `was replaced by '${skill.path}', which has the same name`),
      );
    byName.set(skill.name, skill);
  }
  return byName.size === found.length ? found : [...byName.values()];
}

function emptySource(source: string): SkillWarning {
  const expected = `${source === "/" ? "" : source}/<name>/${SKILL_FILE}`;
  return warning("SOURCE_EMPTY", source, `has no skill: '${expected}' was expected`);
}
