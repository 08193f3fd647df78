/** Model servers on this machine: asked in parallel which models they have. */
import { modelProvider, providerUrl } from "deepwright/providers";
import { ollamaUrl, shownUrl } from "../model/base-url.ts";
import { endpoints, ollamaNames, PATIENCE } from "../model/endpoints.ts";

export interface LocalServer {
  /** As written before the colon of `provider:model`. */
  readonly provider: string;
  readonly title: string;
  /** For people. */
  readonly url: string;
  /** Undefined: nothing answers there in time. */
  readonly models: readonly string[] | undefined;
}

const TITLES = { ollama: "Ollama", lmstudio: "LM Studio", llamacpp: "llama.cpp", vllm: "vLLM" } as const;

/** All at once, each within 300 ms. OLLAMA_HOST, LMSTUDIO_BASE_URL and the like name other addresses. */
export async function localServers(environment: NodeJS.ProcessEnv): Promise<readonly LocalServer[]> {
  return Promise.all(
    Object.entries(TITLES).map(async ([provider, title]) => {
      const known = modelProvider(provider);
      const url =
        provider === "ollama"
          ? ollamaUrl(environment.OLLAMA_HOST)
          : ((known && providerUrl(known, environment)) ?? "");
      const models =
        provider === "ollama"
          ? await ollamaNames(url, PATIENCE.hoped)
          : await endpoints.openai(url, undefined, PATIENCE.hoped);
      return { provider, title, url: shownUrl(url), models };
    }),
  );
}
