/**
 * Values of the loop's channels, made known to savers that store by identity.
 *
 * A saver may skip an object it has stored before only if it knows that nobody changed it since. The loop never edits
 * a message or a file in place, so a saver may trust the lists and maps that a channel hands to savers, and to nobody
 * else (`forSavers`). Values from outside cannot be trusted, even when the object was in a channel before: a caller
 * may have edited it in the meantime.
 *
 * Shared by all copies of this module in a process.
 */
interface ChannelValues {
  /** When a value last came in. A saver trusts what it stored under the same number. */
  readonly stamps: WeakMap<object, number>;
  /** Lists and maps a reducer made. */
  readonly made: WeakSet<object>;
  /** Copies that savers see of a channel's list or map, and back. */
  readonly copies: WeakMap<object, object>;
  readonly originals: WeakMap<object, object>;
  /** Copies that go to the channel of a run inside. */
  readonly handed: WeakSet<object>;
  clock: number;
  /** How often a value came in that had been in a channel before. */
  returns: number;
}

const KEY = Symbol.for("deepwright.channel-values.v2");

function shared(): ChannelValues {
  const home = globalThis as { [KEY]?: ChannelValues };
  home[KEY] ??= {
    stamps: new WeakMap(),
    made: new WeakSet(),
    copies: new WeakMap(),
    originals: new WeakMap(),
    handed: new WeakSet(),
    clock: 0,
    returns: 0,
  };
  return home[KEY];
}

const values = shared();
let aside = false;

/**
 * A reducer took this value in from an update, an input or a checkpoint. `wasThere` tells of a value the
 * channel held before without a stamp.
 */
export function cameIn(value: unknown, wasThere = false): void {
  if (aside || typeof value !== "object" || value === null) return;
  if (wasThere || values.stamps.has(value)) values.returns += 1;
  values.clock += 1;
  values.stamps.set(value, values.clock);
}

/** A reducer made this list or map; every element of it has come in. */
export function madeByLoop(container: object): void {
  if (!aside) values.made.add(container);
}

/** Runs reducers whose results go into no channel: what they take in is not noted. */
export function onTheSide<T>(body: () => T): T {
  const before = aside;
  aside = true;
  try {
    return body();
  } finally {
    aside = before;
  }
}

export function isMadeByLoop(container: object): boolean {
  return values.made.has(container);
}

/**
 * The value that a channel gives for a checkpoint: a flat copy that only savers get, the same one for as long as the
 * channel holds the same list or map.
 */
export function forSavers<T>(container: T): T {
  if (typeof container !== "object" || container === null) return container;
  const known = values.copies.get(container);
  if (known && (!Array.isArray(known) || known.length === (container as unknown as unknown[]).length))
    return known as T;
  const copy = Array.isArray(container) ? container.slice() : { ...container };
  values.copies.set(container, copy);
  values.originals.set(copy, container);
  return copy as T;
}

/** The value that the channel held, for a copy it gave; anything else is returned unchanged. */
export function fromSavers(value: unknown): unknown {
  return (typeof value === "object" && value !== null && values.originals.get(value)) || value;
}

/** Whether the elements of this list or map may be trusted as far as their stamps say. */
export function isForSavers(container: object): boolean {
  return values.originals.has(container);
}

/**
 * A map of one channel on its way into that of a run inside, which takes it as it is: nothing of it is checked
 * or copied. Only for what comes straight out of a channel of ours.
 */
export function handDown<T extends object>(container: T): T {
  const copy = forSavers(container);
  values.handed.add(copy);
  return copy;
}

/** A value that was handed down, as the other channel holds it; undefined for anything else. */
export function handedDown(value: unknown): object | undefined {
  if (typeof value !== "object" || value === null || !values.handed.has(value)) return undefined;
  return values.originals.get(value);
}

/** Changes whenever the value comes in again; `undefined` if it never did. */
export function stampOf(value: object): number | undefined {
  return values.stamps.get(value);
}

/** While this stays the same, no value that was in a channel has come in again. */
export function returnCount(): number {
  return values.returns;
}
