/** Redaction of spans: keys of the environment and of the models are removed from every text. */
import { secretsIn, withoutSecrets } from "../secrets.ts";

export type Redact = (text: string) => string;

type Variables = Record<string, string>;

/** One for all the runs of a tree. */
export class Redaction {
  readonly #secrets: Variables;
  readonly #own: readonly Redact[];

  constructor(own: readonly Redact[] = [], secrets: Variables = environmentSecrets()) {
    this.#own = own;
    this.#secrets = secrets;
  }

  /** The same with another rule of the user. */
  and(redact: Redact | undefined): Redaction {
    if (redact === undefined || this.#own.includes(redact)) return this;
    return new Redaction([...this.#own, redact], this.#secrets);
  }

  /** Without secrets; for what is no content. */
  readonly withoutKeys: Redact = (text) => withoutSecrets(text, this.#secrets);

  /** Words of people, models and tools: the user's rules apply too. A rule that fails hides the text. */
  readonly content: Redact = (text) => {
    let clean = this.withoutKeys(text);
    for (const redact of this.#own) clean = kept(redact, clean);
    return clean;
  };

  /** JSON in which every text, the keys of records among them, went through `content`. */
  json(value: unknown): string {
    try {
      return JSON.stringify(value, (_, part: unknown) => this.#part(part)) ?? "null";
    } catch {
      return JSON.stringify(NOT_SHOWN);
    }
  }

  #part(part: unknown): unknown {
    if (typeof part === "string") return this.content(part);
    if (typeof part === "bigint" || typeof part === "number") {
      const text = String(part);
      const clean = this.content(text);
      return clean === text && typeof part === "number" ? part : clean;
    }
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [this.content(key), value]));
  }
}

const NOT_SHOWN = "[not shown]";

function kept(redact: Redact, text: string): string {
  try {
    return String(redact(text));
  } catch {
    return NOT_SHOWN;
  }
}

/** Only the variables that hold secrets: an environment is long, and texts are many. */
function environmentSecrets(): Variables {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const names = new Set(secretsIn(process?.env ?? {}).map(([name]) => name));
  return Object.fromEntries(
    Object.entries(process?.env ?? {}).filter(([name]) => names.has(name)),
  ) as Variables;
}
