/** Files of a thread's state that are no work: what the harness took out of a long conversation. */

const AREAS = ["/large_tool_results/", "/conversation_history/"];

export function isPutAside(path: string, place?: string): boolean {
  return place === undefined && AREAS.some((area) => path.startsWith(area));
}

/** Without them. */
export function realFiles<File extends { readonly path: string; readonly place?: string }>(
  files: readonly File[],
): readonly File[] {
  return files.filter(({ path, place }) => !isPutAside(path, place));
}
