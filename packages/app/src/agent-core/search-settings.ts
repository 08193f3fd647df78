/** Makes the search function of `web_search` from the settings of an app. */
import { ConfigurationError } from "deepwright";
import { tavilySearch } from "./tavily.ts";
import type { WebSearch } from "./web-search.ts";

/** null means absent. */
export interface SearchSettings {
  readonly provider: "tavily";
  /** Absent: TAVILY_API_KEY; without a key there is no search. */
  readonly apiKey?: string | null;
  /** Address of a server that answers as the provider does. */
  readonly baseUrl?: string | null;
}

const SETTINGS = ["provider", "apiKey", "baseUrl"];

/** Undefined: no search, because it is turned off or has no key. */
export function chosenSearch(
  given: WebSearch | SearchSettings | false | null | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): WebSearch | undefined {
  if (given === false) return undefined;
  if (typeof given === "function") return given;
  const { apiKey, baseUrl } = checked(given ?? { provider: "tavily" });
  const key = apiKey ?? environment.TAVILY_API_KEY;
  return key ? tavilySearch({ apiKey: key, baseUrl: baseUrl ?? undefined }) : undefined;
}

function checked(settings: SearchSettings): SearchSettings {
  const { provider } = settings;
  const unknown = Object.keys(settings).find((name) => !SETTINGS.includes(name));
  if (provider === "tavily" && unknown === undefined) return settings;
  throw new ConfigurationError(
    "INVALID_OPTION",
    unknown === undefined
      ? `There is no search provider '${String(provider)}'.`
      : `The settings of the search have no '${unknown}'.`,
    { hint: "Give { provider: 'tavily', apiKey, baseUrl }, or a function (query, { maxResults, signal })." },
  );
}
