/** Counts the oldest media that a request leaves out, so that the provider accepts the rest. */
import type { MediaLimits } from "./request-media-form.ts";

/** One picture, sound, film or PDF of a request. */
export interface MediaWeight {
  /** Bytes. */
  readonly size: number;
  /** Pixels of the longer side of a picture; 0 where there is none. */
  readonly edge: number;
}

/**
 * The number of media to leave out, counted from the oldest.
 *
 * Once the limits are exceeded, it drops media until half of them is free. The number then stays the same for several
 * requests, so they begin alike and the provider's prompt cache still fits.
 */
export function leftOut(media: Iterable<MediaWeight>, limits: MediaLimits): number {
  const seen: MediaWeight[] = [];
  let dropped = 0;
  let bytes = 0;
  let largePictures = 0;
  const largeCount = ({ edge }: MediaWeight): number => (edge > limits.crowd.edge ? 1 : 0);
  /** Whether the kept media take at most this share of the limits. Providers accept few pictures when one is large. */
  const fits = (share: number): boolean => {
    const mostMedia = largePictures > 0 ? Math.min(limits.crowd.few, limits.count) : limits.count;
    return bytes <= limits.total * share && seen.length - dropped <= mostMedia * share;
  };
  for (const item of media) {
    seen.push(item);
    bytes += item.size;
    largePictures += largeCount(item);
    if (fits(1)) continue;
    while (dropped < seen.length - 1 && !fits(0.5)) {
      const oldest = seen[dropped] as MediaWeight;
      bytes -= oldest.size;
      largePictures -= largeCount(oldest);
      dropped += 1;
    }
  }
  return dropped;
}
