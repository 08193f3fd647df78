/** How many answers a caller holds open. */
import { Problem } from "../problems.ts";

export class OpenStreams {
  private readonly counts = new Map<string, number>();

  constructor(private readonly most: number) {}

  /** Returns how to give it back; safe twice. Throws 429 when the caller has as many as it may. */
  open(caller: string): () => void {
    const count = (this.counts.get(caller) ?? 0) + 1;
    if (count > this.most)
      throw new Problem("RATE_LIMITED", `At most ${this.most} streams may be open at a time.`, {
        headers: { "retry-after": "5" },
      });
    this.counts.set(caller, count);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      const left = (this.counts.get(caller) ?? 1) - 1;
      if (left > 0) this.counts.set(caller, left);
      else this.counts.delete(caller);
    };
  }

  /**
   * An answer that begins only where there is a place for it, so that what is refused has done nothing. `begin` is told how
   * to give the place back when the answer is over; what it throws gives it back too.
   */
  async hold(caller: string, begin: (release: () => void) => Promise<Response>): Promise<Response> {
    const release = this.open(caller);
    try {
      return await begin(release);
    } catch (error) {
      release();
      throw error;
    }
  }
}
