/** How much a test does: `npm run test:long` runs everything at full size. */
export const isLong = process.env.TEST_LONG === "1";

/** The first in `npm test`, the second in `npm run test:long`. */
export function sized<Value>(short: Value, long: Value): Value {
  return isLong ? long : short;
}
