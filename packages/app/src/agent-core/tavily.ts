/** A search of the web by Tavily, or by a server that answers as it does. */
import { ConfigurationError } from "deepwright";
import { durationMs, signalAfter } from "deepwright/duration";
import { createGuardedFetch } from "deepwright/net";
import { z } from "zod";
import type { WebSearch } from "./web-search.ts";

export interface TavilyOptions {
  readonly apiKey: string;
  /** Default Tavily's own; another may be on this machine or in a private network. */
  readonly baseUrl?: string | undefined;
  /** Default 30. */
  readonly timeoutSeconds?: number;
}

const BASE_URL = "https://api.tavily.com";
const MOST_BYTES = 4 * 1024 * 1024;
const TIMEOUT_SECONDS = 30;

const found = z.object({
  answer: z.string().nullish(),
  results: z.array(z.object({ title: z.string().nullish(), url: z.string(), content: z.string().nullish() })),
});

const REASONS: Readonly<Record<number, string>> = {
  401: "the key of the search is wrong or missing",
  429: "too many searches at once; wait before the next",
  432: "the plan of the search is used up",
  433: "the plan of the search is used up",
};

/** Rejects with words for the model, in which the key is not. */
export function tavilySearch(options: TavilyOptions): WebSearch {
  const { apiKey, baseUrl, timeoutSeconds = TIMEOUT_SECONDS } = options;
  const timeoutMs = durationMs("timeoutSeconds", timeoutSeconds, { unit: "seconds" });
  if (apiKey.trim() === "" || /[^\x21-\x7e]/.test(apiKey))
    throw new ConfigurationError("INVALID_OPTION", "The key of the search is empty or no key.");
  const url = searchUrl(baseUrl ?? BASE_URL);
  const fetch = createGuardedFetch({ allowPrivate: baseUrl !== undefined, maxBytes: MOST_BYTES });
  return async (query, { maxResults, signal }) => {
    const late = signalAfter(timeoutMs);
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ query, max_results: maxResults }),
      signal: signal ? AbortSignal.any([signal, late]) : late,
    }).catch((error) => {
      if (signal?.aborted) throw signal.reason;
      throw new Error(late.aborted ? `The search took longer than ${timeoutSeconds} s.` : unreachable(error));
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`The search failed (${response.status})${reasonOf(response.status)}.`);
    }
    const answer = found.safeParse(await response.json().catch(() => undefined));
    if (!answer.success) throw new Error("The search answered with something else than results.");
    const { results, answer: words } = answer.data;
    if (results.length === 0 && !words) return "Nothing was found.";
    return {
      ...(words && { answer: words }),
      results: results.slice(0, maxResults).map(({ title, url: address, content }) => ({
        title: title ?? "",
        url: address,
        content: content ?? "",
      })),
    };
  };
}

function searchUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new ConfigurationError(
      "INVALID_OPTION",
      "The baseUrl of the search must be an http or https address.",
    );
  return `${url.href.replace(/\/$/, "")}/search`;
}

function unreachable(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return `The search cannot be reached${typeof code === "string" ? ` (${code})` : ""}.`;
}

const reasonOf = (status: number): string => (REASONS[status] ? `: ${REASONS[status]}` : "");
