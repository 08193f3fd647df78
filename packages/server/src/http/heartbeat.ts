/** One clock for all open answers, so that proxies and clients can tell an idle one from a dead one. */
export class Heartbeat {
  private readonly beats = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly everyMs: number) {}

  /** Returns how to stop it. */
  add(beat: () => void): () => void {
    this.beats.add(beat);
    this.timer ??= setInterval(() => {
      for (const each of this.beats) each();
    }, this.everyMs).unref();
    return () => {
      this.beats.delete(beat);
      if (this.beats.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  }
}
