/**
 * Slots for calls under way, shared so that no owner and no address has all of them: each may have as many as are
 * still free, so one alone has half of them, and there is always room for the next one.
 */
import type { DueHook, PassedOver } from "../../records/contract/hook-records.ts";

type Call = Pick<DueHook, "owner" | "url">;

export class FairSlots {
  private free: number;
  private readonly owners = new Map<string, number>();
  private readonly urls = new Map<string, number>();

  constructor(slots: number) {
    this.free = slots;
  }

  /** Most hooks to take at once: a part of the free slots, because all may belong to one owner. */
  get most(): number {
    return Math.ceil(this.free / 8);
  }

  /** Returns how to leave it. */
  enter({ owner, url }: Call): () => void {
    this.free -= 1;
    add(this.owners, owner, 1);
    add(this.urls, url, 1);
    return () => {
      this.free += 1;
      add(this.owners, owner, -1);
      add(this.urls, url, -1);
    };
  }

  /** An address gets half of its owner's slots, so that the owner's other addresses do not wait for it. */
  passedOver(): PassedOver {
    const full = (counts: ReadonlyMap<string, number>, weight: number) =>
      [...counts].filter(([, count]) => count * weight >= this.free).map(([name]) => name);
    return { owners: full(this.owners, 1), urls: full(this.urls, 2) };
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}
