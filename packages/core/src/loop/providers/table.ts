/** The providers that `provider:model` strings name: the one place to add one. */
import { ownValue } from "../../text/own-value.ts";

export interface ModelProvider {
  /** As written before the colon, with dashes. */
  readonly name: string;
  /** Names by which LangChain's `initChatModel` knows it, each with its package; the first that is installed counts. */
  readonly packages: readonly LangChainPackage[];
  /** A server that speaks OpenAI's chat completions; used when no package of the provider is installed. */
  readonly baseUrl?: string;
  /** Variables that may hold the key; the first that is set counts. Empty: it needs none. */
  readonly keys: readonly string[];
  /** The server wants no key unless its owner set one. */
  readonly isLocal?: boolean;
}

export interface LangChainPackage {
  readonly name: string;
  readonly package: string;
}

type Row = Omit<ModelProvider, "name" | "packages"> & {
  readonly packages?: Readonly<Record<string, string>>;
};

const ROWS: Readonly<Record<string, Row>> = {
  anthropic: { packages: { anthropic: "@langchain/anthropic" }, keys: ["ANTHROPIC_API_KEY"] },
  openai: { packages: { openai: "@langchain/openai" }, keys: ["OPENAI_API_KEY"] },
  "azure-openai": { packages: { azure_openai: "@langchain/openai" }, keys: ["AZURE_OPENAI_API_KEY"] },
  "google-genai": {
    packages: { "google-genai": "@langchain/google-genai", google: "@langchain/google" },
    keys: ["GOOGLE_API_KEY", "GEMINI_API_KEY"],
  },
  "google-vertexai": { packages: { "google-vertexai": "@langchain/google-vertexai" }, keys: [] },
  "google-vertexai-web": { packages: { "google-vertexai-web": "@langchain/google-vertexai-web" }, keys: [] },
  bedrock: { packages: { bedrock: "@langchain/aws" }, keys: [] },
  ollama: { packages: { ollama: "@langchain/ollama" }, keys: [], isLocal: true },
  baseten: { baseUrl: "https://inference.baseten.co/v1", keys: ["BASETEN_API_KEY"] },
  cerebras: {
    packages: { cerebras: "@langchain/cerebras" },
    baseUrl: "https://api.cerebras.ai/v1",
    keys: ["CEREBRAS_API_KEY"],
  },
  cohere: {
    packages: { cohere: "@langchain/cohere" },
    baseUrl: "https://api.cohere.ai/compatibility/v1",
    keys: ["COHERE_API_KEY"],
  },
  deepseek: {
    packages: { deepseek: "@langchain/deepseek" },
    baseUrl: "https://api.deepseek.com/v1",
    keys: ["DEEPSEEK_API_KEY"],
  },
  fireworks: {
    packages: { fireworks: "@langchain/fireworks" },
    baseUrl: "https://api.fireworks.ai/inference/v1",
    keys: ["FIREWORKS_API_KEY"],
  },
  groq: {
    packages: { groq: "@langchain/groq" },
    baseUrl: "https://api.groq.com/openai/v1",
    keys: ["GROQ_API_KEY"],
  },
  huggingface: { baseUrl: "https://router.huggingface.co/v1", keys: ["HF_TOKEN"] },
  llamacpp: { baseUrl: "http://127.0.0.1:8080/v1", keys: ["LLAMACPP_API_KEY"], isLocal: true },
  lmstudio: { baseUrl: "http://127.0.0.1:1234/v1", keys: ["LMSTUDIO_API_KEY"], isLocal: true },
  mistralai: {
    packages: { mistralai: "@langchain/mistralai" },
    baseUrl: "https://api.mistral.ai/v1",
    keys: ["MISTRAL_API_KEY"],
  },
  moonshot: { baseUrl: "https://api.moonshot.ai/v1", keys: ["MOONSHOT_API_KEY"] },
  nvidia: { baseUrl: "https://integrate.api.nvidia.com/v1", keys: ["NVIDIA_API_KEY"] },
  openrouter: { baseUrl: "https://openrouter.ai/api/v1", keys: ["OPENROUTER_API_KEY"] },
  perplexity: { packages: { perplexity: "@langchain/perplexity" }, keys: ["PERPLEXITY_API_KEY"] },
  together: {
    packages: { together: "@langchain/together-ai" },
    baseUrl: "https://api.together.xyz/v1",
    keys: ["TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"],
  },
  vllm: { baseUrl: "http://127.0.0.1:8000/v1", keys: ["VLLM_API_KEY"], isLocal: true },
  xai: { packages: { xai: "@langchain/xai" }, baseUrl: "https://api.x.ai/v1", keys: ["XAI_API_KEY"] },
  zai: { baseUrl: "https://api.z.ai/api/paas/v4", keys: ["ZAI_API_KEY"] },
};

/** Other spellings, those of traces among them. */
const ALIASES: Readonly<Record<string, string>> = {
  azure: "azure-openai",
  "amazon-bedrock": "bedrock",
  aws: "bedrock",
  gemini: "google-genai",
  google: "google-genai",
  "llama-cpp": "llamacpp",
  "llama.cpp": "llamacpp",
  "lm-studio": "lmstudio",
  mistral: "mistralai",
  "together-ai": "together",
  togetherai: "together",
};

export const MODEL_PROVIDERS: readonly ModelProvider[] = Object.entries(ROWS).map(([name, row]) => ({
  ...row,
  name,
  packages: Object.entries(row.packages ?? {}).map(([langchain, npm]) => ({ name: langchain, package: npm })),
}));

/** The one spelling of the name of a provider, whether the table has it or not. */
export function providerName(name: string): string {
  const plain = name.trim().toLowerCase().replaceAll("_", "-");
  return ownValue(ALIASES, plain) ?? plain;
}

export function modelProvider(name: string): ModelProvider | undefined {
  const wanted = providerName(name);
  return MODEL_PROVIDERS.find((provider) => provider.name === wanted);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `GROQ_BASE_URL` and the like take the place of the address in the table. */
export function providerUrl({ name, baseUrl }: ModelProvider, environment: Environment): string | undefined {
  if (baseUrl === undefined) return undefined;
  return environment[`${name.toUpperCase().replaceAll("-", "_")}_BASE_URL`] || baseUrl;
}

export function providerKey({ keys }: ModelProvider, environment: Environment): string | undefined {
  return keys.map((key) => environment[key]).find(Boolean);
}
