/** What a provider counts and keeps of the requests it gets. */
import { createHash } from "node:crypto";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Block, ReadRequest } from "./provider-server-read-for-tests.ts";

export interface Counted {
  /** All of the request. */
  readonly total: number;
  /** Of it, read from the cache and written to it. */
  readonly read: number;
  readonly written: number;
}

const known = new Map<string, number>();

export function tokensOf(text: string): number {
  const counted = known.get(text);
  if (counted !== undefined) return counted;
  const tokens = countTokens(text);
  known.set(text, tokens);
  return tokens;
}

const LEAST_CACHED = 1024;
const LOOK_BACK = 20;

/** The beginning of a request up to a block. */
interface Prefix {
  readonly hash: string;
  readonly tokens: number;
  readonly marker: Block["marker"];
}

/** One cache of one provider; `factor` makes its tokens smaller than o200k's. */
export class PromptCache {
  private readonly kept = new Set<string>();

  constructor(private readonly factor: number) {}

  count(request: ReadRequest): Counted {
    const prefixes = this.prefixes(request);
    const total = prefixes.at(-1)?.tokens ?? 0;
    return request.api === "anthropic"
      ? this.countMarked(prefixes, total)
      : this.countImplicit(prefixes, total, String(request.body.prompt_cache_key ?? ""));
  }

  private prefixes({ tools, system, turns }: ReadRequest): readonly Prefix[] {
    let hash = "";
    let tokens = 0;
    return [...tools, ...system, ...turns.flatMap(({ blocks }) => blocks)].map(({ text, marker }) => {
      hash = createHash("sha1").update(hash).update(text).digest("base64");
      tokens += Math.ceil(tokensOf(text) * this.factor);
      return { hash, tokens, marker };
    });
  }

  /** Read is what ends at a marker or up to twenty blocks before it; written is what ends at the last one. */
  private countMarked(prefixes: readonly Prefix[], total: number): Counted {
    let read = 0;
    let last = 0;
    prefixes.forEach(({ marker, tokens }, index) => {
      if (marker === undefined) return;
      last = tokens;
      const near = prefixes.slice(Math.max(0, index - LOOK_BACK), index + 1);
      read = Math.max(read, near.findLast(({ hash }) => this.kept.has(hash))?.tokens ?? 0);
    });
    for (const { hash, marker, tokens } of prefixes)
      if (marker !== undefined && tokens >= LEAST_CACHED) this.kept.add(hash);
    const cacheable = last >= LEAST_CACHED ? last : 0;
    return { total, read, written: Math.max(0, cacheable - read) };
  }

  /** A key leads to a cache of its own. */
  private countImplicit(prefixes: readonly Prefix[], total: number, key: string): Counted {
    const found = prefixes.findLast(({ hash }) => this.kept.has(key + hash))?.tokens ?? 0;
    for (const { hash } of prefixes) this.kept.add(key + hash);
    return { total, read: found >= LEAST_CACHED ? found - (found % 128) : 0, written: 0 };
  }
}
