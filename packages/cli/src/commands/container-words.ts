import { statSync } from "node:fs";

/** Why there is no container, without the options of the library, which this program does not have. */
export function containerWords(message: string, directory: string): string {
  if (message.includes("cannot write to the workspace"))
    return notWritable(directory, /\brootless\b/.test(message));
  return message
    .replace("name another with `image`", "name another with --sandbox docker:IMAGE")
    .replace("`socketPath` or DOCKER_HOST", "DOCKER_HOST")
    .replace(" `engineTimeout` gives it longer.", "");
}

function notWritable(directory: string, isRootless: boolean): string {
  const [why, what] = isRootless
    ? ["the engine is rootless, and the user it runs as may not", "Give the directory to that user"]
    : statSync(directory).uid === 0
      ? ["it belongs to root, and commands never run as root there", "Work in a directory of another user"]
      : ["its owner may not", "Change its mode"];
  return `Commands in the container cannot write to ${directory}: ${why}. ${what}, or omit --sandbox docker to use the os sandbox.`;
}
