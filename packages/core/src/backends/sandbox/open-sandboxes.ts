/** Numbers of sandboxes that this process holds, by provider: openers count, a server's metrics read. */

const open = new Map<string, number>();

/** Returns how to tell that it is held no more; safe twice. */
export function countOpenSandbox(provider: string): () => void {
  const change = (by: number): void => void open.set(provider, (open.get(provider) ?? 0) + by);
  let isHeld = true;
  change(1);
  return () => {
    if (isHeld) change(-1);
    isHeld = false;
  };
}

export function openSandboxCounts(): ReadonlyMap<string, number> {
  return open;
}
