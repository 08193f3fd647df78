/** Where two answers differ once ids, times and the like are taken out of them. */
import type { Noted, NotedEvents } from "./talk-for-tests.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const HASH = /\b[0-9a-f]{32}\b/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/g;

/** The same for two runs of one script: what is made anew for each is a placeholder. */
export function normalised(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null)
      .replace(UUID, "<id>")
      .replace(HASH, "<id>")
      .replace(TIME, "<time>"),
  );
}

/**
 * Each difference as one line: `threads.get value.config: only there`. Calls of one method are taken together where both
 * answered, and so are the entries of a list, because it is the same difference.
 */
export function differencesBetween(ours: readonly Noted[], theirs: readonly Noted[]): string[] {
  const found = new Set<string>();
  for (const their of theirs) {
    const our = ours.find(({ name }) => name === their.name);
    if (our === undefined) throw new Error(`The script went another way: ${their.name}.`);
    const [here, there] = [normalised(our.answer), normalised(their.answer)] as [Answer, Answer];
    if (outcome(here) !== outcome(there)) found.add(`${our.name}: ${outcome(here)}, there ${outcome(there)}`);
    else if (here.events && there.events)
      for (const line of streamDifferences(here.events, there.events)) found.add(`${our.method} ${line}`);
    else for (const line of differences("", here.value, there.value)) found.add(`${our.method} ${line}`);
  }
  return [...found].sort();
}

type Answer = Noted["answer"];

const outcome = ({ status, events }: Answer): string =>
  status === undefined ? (events ? "a stream" : "answered") : String(status);

/** Our streams end with `end`; what stands before it is compared. */
function streamDifferences(here: NotedEvents, there: NotedEvents): string[] {
  const isEnded = here.at(-1)?.event === "end" && there.at(-1)?.event !== "end";
  const before = isEnded ? here.slice(0, -1) : here;
  return [...(isEnded ? ["end: only here"] : []), ...differences("events", before, there)];
}

function differences(path: string, here: unknown, there: unknown): string[] {
  if (JSON.stringify(here) === JSON.stringify(there)) return [];
  if (Array.isArray(here) && Array.isArray(there)) {
    if (here.length !== there.length) return [`${path || "answer"}: ${listed(here)}, there ${listed(there)}`];
    return here.flatMap((entry, index) => differences(`${path || "answer"}[]`, entry, there[index]));
  }
  if (!isRecord(here) || !isRecord(there))
    return [`${path || "answer"}: ${short(here)}, there ${short(there)}`];
  return [...new Set([...Object.keys(here), ...Object.keys(there)])].flatMap((key) => {
    const inner = path === "" ? key : `${path}.${key}`;
    if (!(key in here)) return [`${inner}: only there`];
    if (!(key in there)) return [`${inner}: only here`];
    return differences(inner, here[key], there[key]);
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The names of a stream's events; the length of any other list. */
function listed(list: readonly unknown[]): string {
  const names = list.map((entry) => (isRecord(entry) ? entry.event : undefined));
  return list.length === 0 || names.some((name) => name === undefined)
    ? `${list.length} entries`
    : names.join(" ");
}

function short(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `${value.length} entries`;
  if (isRecord(value)) return `{${Object.keys(value).join(", ")}}`;
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
