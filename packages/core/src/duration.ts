/** Durations that callers give as options, and timers that keep any of them. */
import { ConfigurationError } from "./errors.ts";

const UNITS = { milliseconds: 1, seconds: 1_000, minutes: 60_000 } as const;

export interface DurationRules {
  /** The unit of the option. */
  readonly unit: keyof typeof UNITS;
  /** Whether 0 is taken. Default false. */
  readonly zero?: boolean;
  /** Whether Infinity is taken: no limit. Default false. */
  readonly unlimited?: boolean;
  /** The longest that is taken, in the unit of the option. */
  readonly most?: number;
}

/** A moment this many milliseconds from now is still a valid date. */
const LONGEST_MS = 1e15;
/** Timers of Node and of browsers fire at once when they are given more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The option in milliseconds. Throws INVALID_OPTION with the name of the option for anything that is no duration. */
export function durationMs(option: string, value: unknown, rules: DurationRules): number {
  const { unit, zero = false, unlimited = false, most = LONGEST_MS / UNITS[unit] } = rules;
  if (value === Number.POSITIVE_INFINITY && unlimited) return value;
  if (typeof value === "number" && value <= most && (value > 0 || (zero && value === 0)))
    return value * UNITS[unit] + 0;
  const range = zero ? `from 0 to ${most}` : `above 0, at most ${most}`;
  throw new ConfigurationError(
    "INVALID_OPTION",
    `The option '${option}' must be a number of ${unit} ${range}${unlimited ? ", or Infinity for no limit" : ""}. It is ${shown(value)}.`,
  );
}

/** Checks those of the options that are there: null and undefined mean absent. */
export function checkDurations(rules: DurationRules, options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) if (value != null) durationMs(name, value, rules);
}

/** Text may be a secret that was put in the wrong place. */
function shown(value: unknown): string {
  return typeof value === "number" ? String(value) : `of type ${typeof value}`;
}

export interface TimerOptions {
  /** Whether the timer keeps the process alive. Default true. */
  readonly ref?: boolean;
}

/** Calls `act` once, after any number of milliseconds; after Infinity never. Returns how to stop the timer. */
export function after(milliseconds: number, act: () => void, { ref = true }: TimerOptions = {}): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const arm = (left: number): void => {
    const step = Math.min(left, LONGEST_TIMER_MS);
    timer = setTimeout(() => (left > step ? arm(left - step) : act()), step);
    if (!ref) (timer as { unref?: () => void }).unref?.();
  };
  if (milliseconds !== Number.POSITIVE_INFINITY) arm(milliseconds);
  return () => clearTimeout(timer);
}

/** Calls `act` again and again, with any number of milliseconds in between. Returns how to stop it. */
export function every(milliseconds: number, act: () => void, options: TimerOptions = {}): () => void {
  let stop = (): void => {};
  const next = (): void => {
    stop = after(
      milliseconds,
      () => {
        next();
        act();
      },
      options,
    );
  };
  next();
  return () => stop();
}

/**
 * Starts now; each call of what it returns tells the milliseconds since. It has two clocks, and the one that went further
 * counts: one stands still while the machine sleeps, the other may be set back.
 */
export function stopwatch(): () => number {
  const [running, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - running, Date.now() - wall);
}

/** `AbortSignal.timeout` for any number of milliseconds, fractions too. */
export function signalAfter(milliseconds: number): AbortSignal {
  if (milliseconds <= LONGEST_TIMER_MS) return AbortSignal.timeout(Math.max(0, Math.ceil(milliseconds)));
  const controller = new AbortController();
  const late = () =>
    controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
  after(milliseconds, late, { ref: false });
  return controller.signal;
}
