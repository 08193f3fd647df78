/** The words that start this program: in a clone of the repository npm starts it, and there is no `deepwright`. */
export function programWords({ npm_package_name: name }: NodeJS.ProcessEnv): string {
  return isClone(name) ? "npm run deepwright --" : "deepwright";
}

/** A line for people who read `deepwright login` and have no such command. */
export function cloneNotice({ npm_package_name: name }: NodeJS.ProcessEnv): readonly string[] {
  return isClone(name)
    ? ["In this clone, type `npm run deepwright --` where a command begins with `deepwright`."]
    : [];
}

function isClone(name: string | undefined): boolean {
  return name === "deepwright-workspace";
}

/** Opens the thread again. `url`: on that server. */
export function comeBackWords(threadId: string, url: string | undefined, env: NodeJS.ProcessEnv): string {
  const where = url === undefined ? "" : ` --connect ${url}`;
  return `${programWords(env)}${where} -r ${threadId.slice(0, 8)}`;
}
