/** The places and names of files that the harness moved out of a conversation. */
import type { BackendProtocol, OperationOptions } from "../backends/backend.ts";
import { type Area, areasDirectory } from "../backends/harness-areas.ts";
import { asHarness } from "../backends/harness-call.ts";
import { textHash } from "../text/text-hash.ts";

export type { Area } from "../backends/harness-areas.ts";
export { asHarness } from "../backends/harness-call.ts";

/** A path that file tools and, where there is one, the shell can open. */
export function areaPath(backend: BackendProtocol, area: Area, name: string): string {
  return `${areasDirectory(backend)}/${area}/${name}`;
}

const SAFE = /^[A-Za-z0-9_-]{1,80}$/;
/** Names that mean a device to some systems. */
const DEVICE = /^(?:con|prn|aux|nul|conin|conout|com\d|lpt\d)$/i;
const KEPT_CHARACTERS = 60;

/**
 * One segment of a path, of letters, digits, `-` and `_`, at most 80 characters. Any other id gets a hash appended, so
 * that similar ids stay apart.
 */
export function safeName(id: string): string {
  if (SAFE.test(id) && !DEVICE.test(id)) return id;
  const readable = id.slice(0, KEPT_CHARACTERS).replace(/[^A-Za-z0-9_-]+/g, "_");
  return `${readable}-${textHash(id)}`;
}

/** Neither versioned nor found by a search, unless it starts there. */
const IGNORED = "/.gitignore\n/large_tool_results/\n/conversation_history/\n";

const prepared = new WeakMap<object, Set<string>>();

/**
 * To be called before the first file of an area is written: in a directory with real paths the areas are kept out
 * of version control and of searches. Costs a call only once for each `owner`; nothing depends on its success.
 */
export async function prepareAreas(
  backend: BackendProtocol,
  owner: object,
  options?: OperationOptions,
): Promise<void> {
  const directory = areasDirectory(backend);
  if (directory === "") return;
  const known = prepared.get(owner) ?? new Set();
  prepared.set(owner, known);
  if (known.has(directory)) return;
  known.add(directory);
  await backend.write(`${directory}/.gitignore`, IGNORED, asHarness(options));
}
