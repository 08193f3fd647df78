/** Files as a map, to hold beside a backend: after any operations both must say the same. */

import { ensure, refused, same, show, succeeded } from "../suite/suite-check.ts";
import type { SuiteRandom } from "../suite/suite-random.ts";
import type { BackendUnderTest } from "./backend-case.ts";

const DIRECTORIES = ["", "a/", "a/deep/", "a_b/", "axb/"];
const NAMES = ["one.txt", "two.md", "three.txt"];
const WORDS = ["alpha", "beta", "needle", "gamma"];

type Step = (model: SuiteModel, name: string, random: SuiteRandom) => Promise<void>;

export class SuiteModel {
  readonly #files = new Map<string, string>();
  readonly #place: BackendUnderTest;
  readonly #base: string;

  /** `base` is a directory of its own below the root of `place`. */
  constructor(subject: BackendUnderTest, base: string) {
    this.#place = subject;
    this.#base = base;
  }

  async step(random: SuiteRandom): Promise<void> {
    const name = random.pick(DIRECTORIES) + random.pick(NAMES);
    await random.pick(STEPS)(this, name, random);
  }

  /** Everything a caller can see. */
  async compare(): Promise<void> {
    const names = [...this.#files.keys()].toSorted();
    same(await this.#found("**"), names, "glob **");
    same(
      await this.#found("*.txt"),
      names.filter((name) => name.endsWith(".txt")),
      "glob *.txt",
    );
    for (const [name, text] of this.#files) same(await this.#place.text(this.#at(name)), text, name);
    for (const directory of DIRECTORIES) await this.compareListing(directory);
    await this.compareGrep("needle");
  }

  async compareListing(directory: string): Promise<void> {
    const expected = new Set<string>();
    for (const name of this.#files.keys())
      if (name.startsWith(directory)) expected.add(name.slice(directory.length).replace(/\/.*/s, "/"));
    const path = this.#place.at(this.#at(directory).replace(/\/$/, ""));
    const result = await this.#place.backend.ls(path);
    if (result.error !== undefined)
      same([result.code, expected.size], ["FILE_NOT_FOUND", 0], `ls ${directory}`);
    const listed = (result.files ?? []).map((file) => file.path.slice(path.length + 1));
    const known = listed.filter((name) => expected.has(name) || !this.#isEmptyDirectory(directory + name));
    same(known, [...expected].toSorted(), `ls ${directory}`);
  }

  async compareGrep(word: string): Promise<void> {
    const expected = [...this.#files.keys()]
      .toSorted()
      .flatMap((name) =>
        (this.#files.get(name) ?? "")
          .split("\n")
          .flatMap((line, index) => (line.includes(word) ? [`${this.#at(name)}:${index + 1}:${line}`] : [])),
      );
    const result = await this.#place.backend.grep(word, this.#place.at(this.#base));
    if (result.error !== undefined) return same([result.code, expected], ["FILE_NOT_FOUND", []], "grep");
    const lines = result.matches.map(({ path, line, text }) => `${this.#place.nameOf(path)}:${line}:${text}`);
    same(lines, expected, `grep ${word}`);
  }

  async write(name: string, text: string, overwrite: boolean): Promise<void> {
    const result = await this.#place.backend.write(this.#path(name), text, { overwrite });
    if (overwrite || !this.#files.has(name)) {
      await succeeded(result, `write of ${name}`);
      this.#files.set(name, text);
    } else await refused(result, "FILE_EXISTS", `second write of ${name}`);
  }

  async append(name: string, text: string): Promise<void> {
    if (!this.#place.meets("append") || !this.#place.backend.append) return;
    await succeeded(this.#place.backend.append(this.#path(name), text));
    this.#files.set(name, (this.#files.get(name) ?? "") + text);
  }

  async edit(name: string, old: string, replacement: string, all: boolean): Promise<void> {
    const result = await this.#place.backend.edit(this.#path(name), old, replacement, all);
    const text = this.#files.get(name);
    const count = (text ?? "").split(old).length - 1;
    if (text === undefined) return void (await refused(result, "FILE_NOT_FOUND", `edit of ${name}`));
    if (old === replacement) return void (await refused(result, "INVALID_ARGUMENT", `edit of ${name}`));
    if (count === 0) return void (await refused(result, "STRING_NOT_FOUND", `edit of ${name}`));
    if (count > 1 && !all) return void (await refused(result, "STRING_NOT_UNIQUE", `edit of ${name}`));
    same((await succeeded(result)).occurrences, count, "occurrences");
    this.#files.set(
      name,
      text.replaceAll(old, () => replacement),
    );
  }

  async delete(name: string): Promise<void> {
    if (!this.#place.meets("delete") || !this.#place.backend.delete) return;
    const result = await this.#place.backend.delete(this.#path(name));
    const doomed = [...this.#files.keys()].filter((file) => file === name || file.startsWith(`${name}/`));
    if (doomed.length > 0) await succeeded(result, `delete of ${name}`);
    else ensure(result.error === undefined || result.code === "FILE_NOT_FOUND", show(result));
    for (const file of doomed) this.#files.delete(file);
  }

  async #found(pattern: string): Promise<string[]> {
    const result = await this.#place.backend.glob(pattern, this.#place.at(this.#base));
    if (result.error !== undefined) {
      same([result.code, this.#files.size], ["FILE_NOT_FOUND", 0], `glob ${pattern}`);
      return [];
    }
    return this.#place.relative(result.files, this.#base);
  }

  /** A backend may keep a directory whose last file was deleted. */
  #isEmptyDirectory(name: string): boolean {
    return name.endsWith("/") && ![...this.#files.keys()].some((file) => file.startsWith(name));
  }

  #at(name: string): string {
    return `${this.#base}/${name}`;
  }

  #path(name: string): string {
    return this.#place.at(this.#at(name));
  }
}

function anyLines(random: SuiteRandom): string {
  return random.list(4, () => `${random.pick(WORDS)} ${random.pick(WORDS)}\n`).join("");
}

const STEPS: readonly Step[] = [
  (model, name, random) => model.write(name, anyLines(random), false),
  (model, name, random) => model.write(name, anyLines(random), false),
  (model, name, random) => model.write(name, anyLines(random), true),
  (model, name, random) => model.append(name, anyLines(random)),
  (model, name, random) => model.edit(name, random.pick(WORDS), random.pick(WORDS), random.chance(0.5)),
  (model, name, random) => model.edit(name, random.pick(WORDS), "", true),
  (model, name) => model.delete(name),
  (model, name, random) =>
    random.chance(0.2) ? model.delete(name.replace(/\/[^/]*$/, "")) : model.compareGrep("beta"),
  (model, _name, random) => model.compareListing(random.pick(DIRECTORIES)),
];
