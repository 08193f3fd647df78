/** The tools of the web that a run has: `fetch_url`, and `web_search` where there is a key. */
import type { InterruptOnConfig } from "deepwright";

export interface WebTools {
  readonly tools: readonly object[];
  readonly interruptOn: Readonly<Record<string, InterruptOnConfig>>;
}

/** `hosts` are those that the settings or flags allow; `place` is the sandbox that approvals hold for. */
export async function openWebTools(
  hosts: readonly string[],
  place: string,
  environment: NodeJS.ProcessEnv,
): Promise<WebTools> {
  const { FETCH_URL, fetchGate, fetchUrlTool } = await import("./fetch-url.ts");
  return {
    tools: [fetchUrlTool(), ...(await searchTools(environment))],
    interruptOn: { [FETCH_URL]: fetchGate(hosts, place) },
  };
}

async function searchTools(environment: NodeJS.ProcessEnv): Promise<readonly object[]> {
  if (!environment.TAVILY_API_KEY) return [];
  const { chosenSearch, webSearchTool } = await import("@deepwright/app");
  const { TAVILY_BASE_URL: baseUrl } = environment;
  const search = chosenSearch({ provider: "tavily", ...(baseUrl && { baseUrl }) }, environment);
  return search === undefined ? [] : [webSearchTool(search)];
}
