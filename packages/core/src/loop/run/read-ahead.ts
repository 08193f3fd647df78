/**
 * Reads `source` to its end whether or not anybody reads along, then calls `after`; only then the reader
 * is told of the end. The engine works ahead of its readers as well, and one may have left for good.
 */
export async function* readAhead<T>(
  source: AsyncIterable<T>,
  after: () => Promise<void>,
): AsyncGenerator<T, void> {
  const waiting: T[] = [];
  let open = true;
  let wake = (): void => {};
  const read = async (): Promise<void> => {
    try {
      for await (const item of source) {
        waiting.push(item);
        wake();
      }
    } finally {
      await after();
      open = false;
      wake();
    }
  };
  const reading = read();
  // Its failure is thrown below, unless the reader is gone.
  reading.catch(() => undefined);
  while (open || waiting.length > 0) {
    if (waiting.length > 0) yield* waiting.splice(0);
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
  await reading;
}
