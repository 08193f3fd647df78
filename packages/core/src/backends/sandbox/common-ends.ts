/** How many bytes two contents have in common at their beginning and at their end. */

const STEP = 4096;

/** The two parts do not overlap in either. */
export function commonEnds(one: Buffer, other: Buffer): { readonly before: number; readonly behind: number } {
  const most = Math.min(one.length, other.length);
  let before = 0;
  while (before + STEP <= most && one.compare(other, before, before + STEP, before, before + STEP) === 0)
    before += STEP;
  while (before < most && one[before] === other[before]) before += 1;
  const rest = most - before;
  const shift = other.length - one.length;
  let behind = 0;
  while (behind + STEP <= rest) {
    const end = one.length - behind;
    if (one.compare(other, end + shift - STEP, end + shift, end - STEP, end) !== 0) break;
    behind += STEP;
  }
  while (behind < rest && one[one.length - 1 - behind] === other[other.length - 1 - behind]) behind += 1;
  return { before, behind };
}
