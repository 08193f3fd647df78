/**
 * Approvals as clients of both languages read them. LangChain's Python packages and the user interfaces made for them write
 * `action_requests`, `review_configs`, `action_name` and `allowed_decisions`; the JavaScript packages write camelCase.
 */
import { isRecord } from "deepwright/check-options";

/** The value of an interrupt with its keys in both spellings, also inside its entries. Other values stay. */
export function inBothSpellings(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { actionRequests, reviewConfigs } = value;
  if (!Array.isArray(actionRequests) || !Array.isArray(reviewConfigs)) return value;
  return spelledTwice({
    ...value,
    actionRequests: actionRequests.map(spelledTwice),
    reviewConfigs: reviewConfigs.map(spelledTwice),
  });
}

/** Doubles the keys of the entry itself; its values, such as the arguments of a call, stay. */
function spelledTwice(entry: unknown): unknown {
  if (!isRecord(entry)) return entry;
  const snake = Object.entries(entry).map(([name, value]) => [snakeCase(name), value] as const);
  return { ...Object.fromEntries(snake), ...entry };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
