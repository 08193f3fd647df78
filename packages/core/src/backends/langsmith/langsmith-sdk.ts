/** LangSmith's SDK: loaded when first used, and its failures without keys. */
import { ConfigurationError } from "../../errors.ts";
import { withoutSecrets } from "../../secrets.ts";

/** Where a key comes from, for a request that was refused. */
export const KEY_HINT = "Set LANGSMITH_API_KEY to a key that may do this.";

export async function loadSdk<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const { code } = cause as { readonly code?: unknown };
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw cause;
    throw new ConfigurationError("NOT_SUPPORTED", "The package 'langsmith' is not installed.", {
      hint: "Run: npm install langsmith",
      cause,
    });
  }
}

/** The SDK's message on one line, without keys. */
export function sdkMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return withoutSecrets(text).replace(/\s+/g, " ").trim();
}

/** The status of HTTP behind an error of the SDK; undefined when there is none. */
export function statusOf(error: unknown): number | undefined {
  const status = (error as { readonly status?: unknown } | null)?.status;
  return typeof status === "number" ? status : undefined;
}
