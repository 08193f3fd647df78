/**
 * The words of a shell command, as far as they can be read without a shell.
 *
 * This is not a parser: it finds words that may be names of files. It reports when the text has more than words, such
 * as wildcards and variables.
 */

export interface CommandWords {
  /** The words of each simple command, quotes taken off. Files that output is sent to are left out. */
  readonly commands: readonly (readonly string[])[];
  /** Nothing in the text is expanded by a shell. */
  readonly isPlain: boolean;
}

/** The rest of a longer text is not read. */
const MOST_CHARACTERS = 16_384;

const TOKEN =
  /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|(&?>[>|&]?|<<?)|([;&|()\n]+)|([^\S\n]+)|([^\s'"\\;&|()<>]+)|([\s\S])/g;

export function commandWords(text: string): CommandWords {
  const reader = new Reader();
  for (const [all, single, double, escaped, redirect, end, blank, run] of text
    .slice(0, MOST_CHARACTERS)
    .matchAll(TOKEN)) {
    if (single !== undefined) reader.add(single);
    else if (double !== undefined)
      reader.add(double.replace(/\\([\\"$`\n])/g, "$1"), !/[$`]/.test(double.replace(/\\[$`]/g, "")));
    else if (escaped !== undefined) reader.add(escaped === "\n" ? "" : escaped);
    else if (redirect !== undefined) reader.redirect(redirect);
    else if (end !== undefined) reader.endCommand();
    else if (blank !== undefined) reader.endWord();
    else if (run !== undefined)
      reader.add(run, !/[$`*?[\]{}]/.test(run) && !(reader.isBetween && /^[~!]/.test(run)));
    // A quote that nothing closes.
    else reader.add(all, false);
  }
  reader.endCommand();
  return { commands: reader.commands, isPlain: reader.isPlain && text.length <= MOST_CHARACTERS };
}

class Reader {
  readonly commands: (readonly string[])[] = [];
  isPlain = true;
  #words: string[] = [];
  #word: string | undefined;
  #isOutput = false;

  get isBetween(): boolean {
    return this.#word === undefined;
  }

  add(part: string, isPlain = true): void {
    this.#word = (this.#word ?? "") + part;
    if (!isPlain) this.isPlain = false;
  }

  redirect(operator: string): void {
    this.endWord();
    if (operator === "<<") this.isPlain = false;
    this.#isOutput = operator.includes(">");
  }

  endWord(): void {
    if (this.#word === undefined) return;
    if (!this.#isOutput) this.#words.push(this.#word);
    this.#isOutput = false;
    this.#word = undefined;
  }

  endCommand(): void {
    this.endWord();
    this.#isOutput = false;
    if (this.#words.length > 0) this.commands.push(this.#words);
    this.#words = [];
  }
}
