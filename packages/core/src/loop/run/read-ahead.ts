/**
 * Reads `source` to its end, with or without a reader, then calls `after`. Only then does the reader see the end. The
 * engine also works ahead of its readers, and a reader may have left for good.
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
