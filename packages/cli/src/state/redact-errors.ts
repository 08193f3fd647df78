/** Keeps keys out of the database where a provider repeats them in its errors. */
import type { SharedSaver } from "@deepwright/checkpoint";
import { withoutSecrets } from "../run/failure-words.ts";

/** The channel in which the engine notes why a task failed. */
const ERROR = "__error__";

/** The same saver: of errors it stores the words without the secrets of the environment. */
export function redactErrors<Saver extends SharedSaver>(saver: Saver, environment: NodeJS.ProcessEnv): Saver {
  const putWrites = saver.putWrites.bind(saver);
  saver.putWrites = async (config, writes, taskId) =>
    putWrites(
      config,
      writes.map(([channel, value]) => [channel, channel === ERROR ? redacted(value, environment) : value]),
      taskId,
    );
  return saver;
}

/** An error is its name and its message: causes and headers are not for keeping. */
function redacted(value: unknown, environment: NodeJS.ProcessEnv): unknown {
  if (typeof value === "string") return withoutSecrets(value, environment);
  const { name, message } = (value ?? {}) as { name?: unknown; message?: unknown };
  return {
    name: typeof name === "string" ? name : "Error",
    message: withoutSecrets(typeof message === "string" ? message : String(value), environment),
  };
}
