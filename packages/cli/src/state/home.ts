/** The directory of the user's own that outlasts projects: threads, memory and skills. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** DEEPWRIGHT_HOME, else `.deepwright` in the home directory. It need not be there. */
export function homeOf(environment: NodeJS.ProcessEnv): string {
  return resolve(environment.DEEPWRIGHT_HOME || join(homedir(), ".deepwright"));
}
