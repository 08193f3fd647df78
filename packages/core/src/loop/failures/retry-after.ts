/** Reads from a failed answer of a provider how long to wait before the next request. */

type Fields = Readonly<Record<string, unknown>>;

/** Milliseconds from `now`; undefined: the answer does not say. */
export function retryAfterIn(error: Fields, now: number): number | undefined {
  const exact = numberIn(headerOf(error, "retry-after-ms"));
  if (exact !== undefined) return exact;
  const header = headerOf(error, "retry-after");
  return (
    (header === undefined ? undefined : fromHeader(header, now)) ??
    fromDetails(error.errorDetails ?? error.details) ??
    (typeof error.retryAfterMs === "number" && error.retryAfterMs >= 0 ? error.retryAfterMs : undefined)
  );
}

function headerOf({ headers }: Fields, name: string): string | undefined {
  if (typeof headers !== "object" || headers === null) return undefined;
  if (typeof (headers as Headers).get === "function")
    return (headers as Headers).get(name)?.trim() || undefined;
  const key = Object.keys(headers).find((candidate) => candidate.toLowerCase() === name);
  const value = key === undefined ? undefined : (headers as Fields)[key];
  return value == null ? undefined : String(value).trim() || undefined;
}

function numberIn(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
}

/** The header is a number of numberIn or an HTTP date. A date in the past means: now. */
function fromHeader(value: string, now: number): number | undefined {
  const wait = numberIn(value);
  if (wait !== undefined) return wait * 1000;
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Google's RetryInfo: `{"@type": "…/google.rpc.RetryInfo", "retryDelay": "34s"}`. */
function fromDetails(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const { retryDelay } = (detail ?? {}) as Fields;
    const wait = typeof retryDelay === "string" ? numberIn(retryDelay.replace(/s$/, "")) : undefined;
    if (wait !== undefined) return wait * 1000;
  }
  return undefined;
}
