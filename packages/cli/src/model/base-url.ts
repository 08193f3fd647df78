/** Addresses of model servers as users write them. */
import { usageError } from "../command-error.ts";
import { OLLAMA_URL } from "../default-models.ts";

/** Checked, without a slash at the end. `source` is where it was written. */
export function parseBaseUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw usageError(
      `${source} must be an http or https address, but it is '${text}'.`,
      "For example http://127.0.0.1:8080/v1.",
    );
  return text.replace(/\/+$/, "");
}

/** Ollama's own forms too: `host`, `host:port`, `:port`; the address to listen on everywhere is this machine. */
export function ollamaUrl(host: string | undefined): string {
  if (!host) return OLLAMA_URL;
  const written = /^https?:\/\//i.test(host)
    ? host
    : `http://${host.startsWith(":") ? "127.0.0.1" : ""}${host}`;
  if (!URL.canParse(written)) throw usageError(`OLLAMA_HOST is not an address: '${host}'.`);
  const url = new URL(written);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.port === "" && !/:\d+\/*$/.test(written) && url.protocol === "http:") url.port = "11434";
  return url.href.replace(/\/+$/, "");
}

/** As shown to people: a password in an address is nobody's business. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.username === "" && url.password === "") return text;
  url.username = "";
  url.password = "";
  return url.href.replace(/\/+$/, "");
}
