/** One after the other in this process, by name. */

const last = new Map<string, Promise<unknown>>();

/** Runs `act` after earlier calls with the same name. A call that is aborted while it waits does not run. */
export async function inTurn<Result>(
  name: string,
  signal: AbortSignal,
  act: () => Promise<Result>,
): Promise<Result> {
  const before = last.get(name) ?? Promise.resolve();
  const turn = before.then(() => {
    signal.throwIfAborted();
    return act();
  });
  const done = turn.then(
    () => {},
    () => {},
  );
  last.set(name, done);
  try {
    return await turn;
  } finally {
    if (last.get(name) === done) last.delete(name);
  }
}
