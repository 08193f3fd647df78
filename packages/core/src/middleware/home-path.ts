/** Replaces `~` at the start of a path by the user's home directory, where the program can know it. */
export function withHome(path: string): string {
  if (!/^~(?=[\\/])/.test(path)) return path;
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const home = process?.env?.HOME ?? process?.env?.USERPROFILE;
  return home === undefined ? path : home.replace(/[\\/]+$/, "") + path.slice(1);
}
