/** What may be said in a span: keys of the environment and of the models asked are struck out of every text. */
import { withoutSecrets } from "../secrets.ts";

export type Redact = (text: string) => string;

type Variables = Record<string, string>;

const SECRET_FIELD = /(?:api_?key|(?:access|auth|bearer)_?token|secret|password|credential)/i;
const MIN_SECRET_LENGTH = 6;

/** One for all the runs of a tree: what was learned of one model is struck out everywhere. */
export class Redaction {
  readonly #secrets: Variables;
  readonly #learned = new WeakSet<object>();
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

  /** A key need not be in the environment: clients are given theirs. */
  learn(client: object): void {
    if (this.#learned.has(client)) return;
    this.#learned.add(client);
    for (const [name, value] of Object.entries(client))
      if (typeof value === "string" && value.length >= MIN_SECRET_LENGTH && SECRET_FIELD.test(name))
        this.#secrets[`KEY ${name} ${Object.keys(this.#secrets).length}`] = value;
  }

  /** Without secrets; for what is no content. */
  readonly withoutKeys: Redact = (text) => withoutSecrets(text, this.#secrets).replace(LEARNED, "[$1]");

  /** What people, models and tools said: the user's rules hold for it, too. A rule that fails hides the text. */
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
const LEARNED = /\[KEY (\w+) \d+\]/g;

function kept(redact: Redact, text: string): string {
  try {
    return String(redact(text));
  } catch {
    return NOT_SHOWN;
  }
}

/**
 * Only the variables that are struck out at all: an environment is long, and texts are many. The longest come first:
 * one may begin with another.
 */
function environmentSecrets(): Variables {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const secret = Object.entries(process?.env ?? {}).filter(
    ([name, value]) => value !== undefined && withoutSecrets(value, { [name]: value }) !== value,
  );
  secret.sort(([, one = ""], [, other = ""]) => other.length - one.length);
  return Object.fromEntries(secret) as Variables;
}
