/** How many of the oldest media of a request have to be left out, so that a provider takes the rest. */
import type { MediaLimits } from "./request-media-form.ts";

export interface MediaWeight {
  /** Bytes. */
  readonly size: number;
  /** Pixels of the longer side of a picture; 0 where there is none. */
  readonly edge: number;
}

/**
 * Depends on the media up to the newest one alone, and once some are left out it is so many that the number stays
 * the same for a while: requests that follow one another begin alike.
 */
export function leftOut(media: Iterable<MediaWeight>, limits: MediaLimits): number {
  const shown: MediaWeight[] = [];
  let first = 0;
  let total = 0;
  let large = 0;
  const isLarge = ({ edge }: MediaWeight): number => (edge > limits.crowd.edge ? 1 : 0);
  const fits = (share: number): boolean => {
    const most = large > 0 ? Math.min(limits.crowd.few, limits.count) : limits.count;
    return total <= limits.total * share && shown.length - first <= most * share;
  };
  for (const item of media) {
    shown.push(item);
    total += item.size;
    large += isLarge(item);
    if (fits(1)) continue;
    while (first < shown.length - 1 && !fits(0.5)) {
      const oldest = shown[first] as MediaWeight;
      total -= oldest.size;
      large -= isLarge(oldest);
      first += 1;
    }
  }
  return first;
}
