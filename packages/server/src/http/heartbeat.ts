import { every } from "deepwright/duration";

/** One clock for all open answers, so that proxies and clients can tell an idle one from a dead one. */
export class Heartbeat {
  private readonly beats = new Set<() => void>();
  private stop: (() => void) | undefined;

  constructor(private readonly everyMs: number) {}

  /** Returns how to stop it. */
  add(beat: () => void): () => void {
    this.beats.add(beat);
    const act = (): void => {
      for (const each of this.beats) each();
    };
    this.stop ??= every(this.everyMs, act, { ref: false });
    return () => {
      this.beats.delete(beat);
      if (this.beats.size > 0) return;
      this.stop?.();
      this.stop = undefined;
    };
  }
}
