/** The syntax of git's settings, read as git reads it. Pure. */

export interface GitSetting {
  /** Section, subsection and name, joined by dots: `core.hookspath`. All but the subsection is in lower case. */
  readonly key: string;
  /** None: it has no value. Several: versions of git read it differently. */
  readonly values: readonly string[];
}

/** Thrown for syntax that git refuses too. */
export class GitSyntaxError extends Error {}

/** Text without the mark of its encoding. What files are included is only named. */
export function readGitConfig(text: string): readonly GitSetting[] {
  return new Reader(text).settings();
}

const SPACE = /[ \t\r\n]/;
const LETTER = /[A-Za-z]/;
const OF_NAME = /[A-Za-z0-9-]/;
const ESCAPED: Readonly<Record<string, string>> = { t: "\t", b: "\b", n: "\n", "\\": "\\", '"': '"' };

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    if (text.includes("\0")) throw new GitSyntaxError("a NUL character");
    // The end of a file also ends a continued line.
    this.#text = `${text.replaceAll("\r\n", "\n")}\n\n`;
  }

  settings(): GitSetting[] {
    const found: GitSetting[] = [];
    let section = "";
    while (this.#at < this.#text.length) {
      const char = this.#next();
      if (SPACE.test(char)) continue;
      if (char === "#" || char === ";") this.#skipLine();
      else if (char === "[") section = `${this.#section()}.`;
      else if (LETTER.test(char)) found.push(this.#setting(section, char));
      else throw this.#wrong();
    }
    return found;
  }

  #section(): string {
    let name = "";
    for (;;) {
      const char = this.#next();
      if (char === "]") return name;
      if (SPACE.test(char)) return `${name}.${this.#subsection(char)}`;
      if (!OF_NAME.test(char) && char !== ".") throw this.#wrong();
      name += char.toLowerCase();
    }
  }

  #subsection(first: string): string {
    let char = first;
    while (SPACE.test(char)) {
      if (char === "\n") throw this.#wrong();
      char = this.#next();
    }
    if (char !== '"') throw this.#wrong();
    let name = "";
    for (char = this.#next(); char !== '"'; char = this.#next()) {
      if (char === "\\") char = this.#next();
      if (char === "\n") throw this.#wrong();
      name += char;
    }
    if (this.#next() !== "]") throw this.#wrong();
    return name;
  }

  #setting(section: string, first: string): GitSetting {
    let key = section + first.toLowerCase();
    let char = this.#next();
    for (; OF_NAME.test(char); char = this.#next()) key += char.toLowerCase();
    while (char === " " || char === "\t") char = this.#next();
    if (char === "\n") return { key, values: [] };
    if (char !== "=") throw this.#wrong();
    return { key, values: this.#values() };
  }

  /** Git 2.45 and later keep white space in a value; earlier versions turned each into a blank. */
  #values(): string[] {
    let value = "";
    let before = "";
    let space = "";
    let isQuoted = false;
    for (let char = this.#next(); char !== "\n" || isQuoted; char = this.#next()) {
      if (char === "\n") throw this.#wrong();
      if (SPACE.test(char) && !isQuoted) {
        if (value !== "") space += char;
        continue;
      }
      if (!isQuoted && (char === "#" || char === ";")) {
        this.#skipLine();
        break;
      }
      value += space;
      before += " ".repeat(space.length);
      space = "";
      if (char === '"') {
        isQuoted = !isQuoted;
        continue;
      }
      const meant = char === "\\" ? this.#escaped() : char;
      value += meant;
      before += meant;
    }
    return [...new Set([value, before])];
  }

  /** Nothing for a line that goes on with the next. */
  #escaped(): string {
    const char = this.#next();
    const meant = char === "\n" ? "" : ESCAPED[char];
    if (meant === undefined) throw this.#wrong();
    return meant;
  }

  #skipLine(): void {
    this.#at = this.#text.indexOf("\n", this.#at) + 1;
  }

  #next(): string {
    const char = this.#text[this.#at];
    if (char === undefined) throw this.#wrong();
    this.#at += 1;
    return char;
  }

  #wrong(): GitSyntaxError {
    const line = this.#text.slice(0, this.#at - 1).split("\n").length;
    return new GitSyntaxError(`bad line ${line}`);
  }
}
