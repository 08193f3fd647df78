/** Decisions of the rules about a call on a backend: links followed, approvals and the harness's own files known. */
import { approvedPaths } from "../backends/approved-call.ts";
import type { BackendProtocol, BackendRuntime, FileError, OperationOptions } from "../backends/backend.ts";
import { areaOf, areasDirectory, isOwnRecord, isPutAside, type OfThread } from "../backends/harness-areas.ts";
import { asHarness } from "../backends/harness-call.ts";
import { withOpenCheck } from "../backends/open-check.ts";
import { followedPath } from "../backends/real-path.ts";
import { isWithin, parentPath, showPath } from "../paths.ts";
import { literalPattern, type PathPattern, pathPatterns } from "./patterns.ts";
import {
  type FilesystemOperation,
  firstRule,
  mayAllowBelow,
  mayRefuseBelow,
  type PermissionMode,
  type Rule,
  type Rules,
  refuses,
} from "./rules.ts";

const GRAVITY: Readonly<Record<PermissionMode, number>> = { allow: 0, interrupt: 1, deny: 2 };

/** The strictest counts. */
export function worst(modes: readonly PermissionMode[]): PermissionMode {
  return modes.reduce((most, mode) => (GRAVITY[mode] > GRAVITY[most] ? mode : most), "allow");
}

export function refusalOf(
  mode: PermissionMode,
  operation: FilesystemOperation,
  path: string,
): FileError | undefined {
  if (mode === "allow") return undefined;
  const what = `${operation} on ${showPath(path)}`;
  if (mode === "deny") return { error: `Error: permission denied for ${what}`, code: "PERMISSION_DENIED" };
  return { error: `Error: a person has to approve ${what}`, code: "APPROVAL_REQUIRED" };
}

/** An approval covers the paths that the person saw: a link with another target since then is not covered. */
function approvedIn(
  places: ReturnType<typeof approvedPaths>,
  fold: (path: string) => string,
): (path: string) => boolean {
  if (places === undefined || places === "anywhere") return () => places === "anywhere";
  const folded = places.map(fold);
  return (path) => folded.some((place) => isWithin(fold(path), place));
}

/** Serves one backend in one task. */
export class Judge {
  readonly #backend: BackendProtocol;
  readonly #rules: Rules;
  readonly #runtime: BackendRuntime | undefined;
  readonly #approved: (path: string) => boolean;
  readonly #fold: (path: string) => string;
  #here: Promise<Rules> | undefined;

  /** Without a runtime nothing is approved and no thread is known. */
  constructor(backend: BackendProtocol, rules: Rules, runtime?: BackendRuntime) {
    this.#backend = backend;
    this.#fold = backend.ignoresCase ? caseless : (path) => path;
    this.#rules = backend.ignoresCase
      ? rules.map((rule) => withPatterns(rule, rule.patterns.map(caselessPattern)))
      : rules;
    this.#runtime = runtime;
    this.#approved = approvedIn(runtime && approvedPaths(runtime), this.#fold);
  }

  /** Whether any rule of this operation is more than a permit. */
  refuses(operation: FilesystemOperation): boolean {
    return refuses(this.#rules, operation);
  }

  /** Mode of a canonical path, by its name and by the path that links lead to. */
  async mode(
    operation: FilesystemOperation,
    path: string,
    options?: OperationOptions,
  ): Promise<PermissionMode> {
    if (!this.refuses(operation)) return "allow";
    const rules = await this.#rulesHere(options);
    const names = await this.names(path, options);
    return worst(names.map((name) => this.#modeOf(rules, operation, name)));
  }

  async refusal(
    operation: FilesystemOperation,
    path: string,
    options?: OperationOptions,
  ): Promise<FileError | undefined> {
    return refusalOf(await this.mode(operation, path, options), operation, path);
  }

  /** The options with a check of the rules, for a backend that learns the target of a path only when it opens it. */
  async whenOpened<Options extends OperationOptions>(
    operation: FilesystemOperation,
    options: Options | undefined,
  ): Promise<Options | undefined> {
    if (!this.refuses(operation)) return options;
    const rules = await this.#rulesHere(options);
    const refusal = (real: string, asked: string): FileError | undefined =>
      refusalOf(this.#modeOf(rules, operation, real), operation, asked);
    return withOpenCheck(options, { at: refusal, found: (path) => refusal(path, path) });
  }

  /** A canonical path, and its target if links lead elsewhere, without the answers of an inner guard. */
  async names(path: string, options?: OperationOptions): Promise<readonly string[]> {
    if (!this.#backend.realPath) return [path];
    const real = await followedPath(this.#backend, path, asHarness(options));
    return real === path ? [path] : [path, real];
  }

  /** A view of everything below a directory that was looked up once. */
  async below(
    operation: FilesystemOperation,
    directory: string,
    options?: OperationOptions,
  ): Promise<DirectoryJudge> {
    const rules = await this.#rulesHere(options);
    const [name, real = name] = (await this.names(directory, options)) as [string, string?];
    const modeOf = (one: string): PermissionMode => this.#modeOf(rules, operation, one);
    return new DirectoryJudge(rules, operation, [name, real], modeOf, this.#fold);
  }

  #modeOf(rules: Rules, operation: FilesystemOperation, path: string): PermissionMode {
    const rule = firstRule(rules, this.#fold(path), operation);
    if (rule === undefined || rule.mode === "allow") return "allow";
    if (rule.mode === "interrupt" && this.#approved(path)) return "allow";
    return operation === "read" && this.#isOwn(path, rule) ? "allow" : rule.mode;
  }

  /** Files that the harness stored for this thread can be read, unless the rule is about exactly them. */
  #isOwn(path: string, rule: Rule): boolean {
    const area = areaOf(this.#backend, path);
    if (area === undefined) return this.#isRecordElsewhere(path, rule);
    const directory = this.#fold(areasDirectory(this.#backend) || area);
    const isNamed = rule.patterns.some(({ literal }) => isWithin(literal, directory));
    if (isNamed || this.#runtime === undefined) return false;
    if (path === area || (this.#backend as OfThread).isOfThread === true) return true;
    return isOwnRecord(this.#runtime, path) || isPutAside(this.#runtime, path);
  }

  /** The record of the conversation may lie in a directory that was chosen for it. */
  #isRecordElsewhere(path: string, rule: Rule): boolean {
    if (this.#runtime === undefined || !isOwnRecord(this.#runtime, path)) return false;
    const directory = this.#fold(parentPath(path));
    return !rule.patterns.some(({ literal }) => literal !== "/" && isWithin(literal, directory));
  }

  #rulesHere(options?: OperationOptions): Promise<Rules> | Rules {
    if (!this.#backend.realPath) return this.#rules;
    this.#here ??= withRealNames(this.#rules, this.#backend, options).catch((error: unknown) => {
      this.#here = undefined;
      throw error;
    });
    return this.#here;
  }
}

/** Judges names below one directory, under that name and the real one. */
export class DirectoryJudge {
  readonly #rules: Rules;
  readonly #operation: FilesystemOperation;
  readonly #name: string;
  readonly #real: string;
  readonly #modeOf: (path: string) => PermissionMode;
  readonly #fold: (path: string) => string;

  constructor(
    rules: Rules,
    operation: FilesystemOperation,
    [name, real]: readonly [name: string, real: string],
    modeOf: (path: string) => PermissionMode,
    fold: (path: string) => string,
  ) {
    this.#rules = rules;
    this.#operation = operation;
    this.#name = name;
    this.#real = real;
    this.#modeOf = modeOf;
    this.#fold = fold;
  }

  /** The same rules for another directory, or for the same one with a new target. */
  at(name: string, real: string): DirectoryJudge {
    return new DirectoryJudge(this.#rules, this.#operation, [name, real], this.#modeOf, this.#fold);
  }

  get mode(): PermissionMode {
    return this.modeOf(this.#name);
  }

  modeOf(path: string): PermissionMode {
    return worst(this.#names(path).map(this.#modeOf));
  }

  /** Whether the path is allowed, or a directory on the way to an allowed one. */
  shows(path: string, isDirectory: boolean): boolean {
    if (this.modeOf(path) === "allow") return true;
    return isDirectory && this.leadsOn(path);
  }

  leadsOn(directory: string): boolean {
    return this.#names(directory).every((name) =>
      mayAllowBelow(this.#rules, this.#fold(name), this.#operation),
    );
  }

  mayRefuse(): boolean {
    return this.#names(this.#name).some((name) =>
      mayRefuseBelow(this.#rules, this.#fold(name), this.#operation),
    );
  }

  /** Where a path below the directory lies when only the directory itself is looked up. */
  realOf(path: string): string {
    if (this.#real === this.#name) return path;
    const rest = this.#name === "/" ? path : path.slice(this.#name.length);
    return (this.#real === "/" ? rest : this.#real + rest) || "/";
  }

  #names(path: string): readonly string[] {
    const real = this.realOf(path);
    return real === path ? [path] : [path, real];
  }
}

function withPatterns(rule: Rule, patterns: readonly PathPattern[]): Rule {
  return { ...rule, patterns };
}

/** One spelling for all names that such a disk treats as equal. Lower case alone misses the long s and others. */
function caseless(text: string): string {
  return text.toLowerCase().toUpperCase().normalize("NFC");
}

function caselessPattern({ text, isLiteral }: PathPattern): PathPattern {
  const made = isLiteral ? literalPattern(caseless(text)) : pathPatterns(caseless(text));
  if ("problem" in made) throw new RangeError(`'${text}' ${made.problem}`);
  return Array.isArray(made) ? (made[0] as PathPattern) : (made as PathPattern);
}

/** A rule that forbids holds for the place that the directory it names leads to as well. */
async function withRealNames(
  rules: Rules,
  backend: BackendProtocol,
  options?: OperationOptions,
): Promise<Rules> {
  return Promise.all(
    rules.map(async (rule) => {
      if (rule.mode === "allow") return rule;
      const found = await Promise.all(rule.patterns.map((pattern) => elsewhere(pattern, backend, options)));
      const more = backend.ignoresCase ? found.flat().map(caselessPattern) : found;
      const added = more.flat();
      return added.length === 0 ? rule : withPatterns(rule, [...rule.patterns, ...added]);
    }),
  );
}

async function elsewhere(
  { text, literal, isLiteral }: PathPattern,
  backend: BackendProtocol,
  options?: OperationOptions,
): Promise<readonly PathPattern[]> {
  if (literal === "/") return [];
  const real = await followedPath(backend, literal, asHarness(options));
  if (real === literal) return [];
  if (isLiteral) return [literalPattern(real)];
  const escaped = real === "/" ? "" : real.replace(/[*?[\]{}()\\]/g, (character) => `\\${character}`);
  const made = pathPatterns(escaped + text.slice(literal.length));
  // Names no pattern can say: then all that lies there.
  return "problem" in made ? [literalPattern(real)] : made;
}
