/**
 * Texts to embed from a value, by LangGraph's paths: `a.b`, `a[0]`, `a[-1]`, `a[*].b`, `*`, `{a,b.c}`, and
 * `$` for the whole value as JSON.
 */

export function textsAtPath(value: unknown, path: string): string[] {
  if (path === "$" || path === "") return textsOf(value, true);
  return follow(value, tokens(path));
}

/** Names, `[…]` and `{…}` in their order; periods part names. */
function tokens(path: string): string[] {
  return path.match(/\[[^\]]*\]?|\{[^}]*\}?|[^.[{]+/g) ?? [];
}

function follow(value: unknown, path: readonly string[]): string[] {
  const [step, ...rest] = path;
  if (step === undefined) return textsOf(value, false);
  if (step.startsWith("[")) return elements(value, step.slice(1, -1)).flatMap((one) => follow(one, rest));
  if (typeof value !== "object" || value === null) return [];
  if (step.startsWith("{")) return fields(value, step.slice(1, -1));
  if (step === "*") return Object.values(value).flatMap((one) => follow(one, rest));
  return Object.hasOwn(value, step) ? follow(value[step as keyof typeof value], rest) : [];
}

function elements(value: unknown, index: string): unknown[] {
  if (!Array.isArray(value)) return [];
  if (index === "*") return value;
  const place = Number.parseInt(index, 10);
  return Number.isNaN(place) ? [] : value.slice(place, place === -1 ? undefined : place + 1);
}

/** The end of a path: what `{a,b.c}` names, each for itself. */
function fields(value: object, names: string): string[] {
  return names.split(",").flatMap((name) => follow(value, tokens(name.trim())));
}

function textsOf(value: unknown, whole: boolean): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value === "object" || whole) return [JSON.stringify(value, null, 2)];
  return [String(value)];
}
