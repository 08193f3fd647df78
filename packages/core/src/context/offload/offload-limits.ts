/** From which size on something is too large for the conversation. */
import type { ChatModel } from "../../loop/providers/model-source.ts";
import { estimateTokens } from "../../tokens.ts";
import { windowOf } from "../tokens/token-meter.ts";

const DEFAULT_RESULT_TOKENS = 20_000;
const DEFAULT_HUMAN_TOKENS = 50_000;
/** The parts of a model's window. */
const RESULT_SHARE = 1 / 4;
const HUMAN_SHARE = 1 / 2;
/** More characters than this for each token is no text. */
const CHARACTERS_PER_TOKEN = 4;

/** null: never; absent: the default. */
export interface OffloadLimitOptions {
  readonly resultTokens?: number | null;
  readonly humanTokens?: number | null;
}

/** Knows the window of the model that answered last; until one has, only the plain limits. */
export class OffloadLimits {
  readonly #options: OffloadLimitOptions;
  #window = Number.POSITIVE_INFINITY;

  constructor(options: OffloadLimitOptions = {}) {
    this.#options = options;
  }

  see(model: ChatModel | undefined): void {
    if (model !== undefined) this.#window = windowOf(model) ?? Number.POSITIVE_INFINITY;
  }

  /** Tokens of a tool's result, of an argument or of a page of a file; undefined: any number. */
  get result(): number | undefined {
    return smaller(this.#options.resultTokens, DEFAULT_RESULT_TOKENS, this.#window * RESULT_SHARE);
  }

  /** Most tokens of a person's message. */
  get human(): number | undefined {
    return smaller(this.#options.humanTokens, DEFAULT_HUMAN_TOKENS, this.#window * HUMAN_SHARE);
  }
}

/** A limit that the user set is never lowered. */
function smaller(given: number | null | undefined, standard: number, share: number): number | undefined {
  return given === null ? undefined : Math.floor(given ?? Math.min(standard, share));
}

/** Depends on the text alone. A text is estimated only if its length does not decide. */
export function exceeds(text: string, tokens: number | undefined): boolean {
  if (tokens === undefined || text.length <= tokens) return false;
  return text.length > tokens * CHARACTERS_PER_TOKEN || estimateTokens(text) > tokens;
}
