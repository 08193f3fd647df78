/** LangGraph Studio: a page of LangChain's that talks to this server from the browser. */
import type { ServeOptions } from "@deepwright/server";

const ORIGINS = ["https://smith.langchain.com", "https://eu.smith.langchain.com"] as const;

/** Adds its origins to those that may use the server. */
export function withStudio(options: ServeOptions): ServeOptions {
  return { ...options, allowedOrigins: [...new Set([...(options.allowedOrigins ?? []), ...ORIGINS])] };
}

export function studioAddress(url: string): string {
  return `${ORIGINS[0]}/studio/?${new URLSearchParams({ baseUrl: url })}`;
}
