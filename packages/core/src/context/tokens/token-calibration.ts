/**
 * How many tokens of a model one token of our own count is, for each kind of text, learnt from what its
 * provider reports.
 *
 * The ratios are the state of a Kalman filter: a report about a request that is mostly English says much about
 * English and little about Chinese, and the filter knows how little. What is counted is therefore given with a
 * margin that is wide where nothing was seen yet and narrow where much was. The ratios of all kinds go up and
 * down together in part, because a provider that counts more of one counts more of most.
 */
import { TALLY_KINDS, type Tally } from "./token-tally.ts";

type Kind = (typeof TALLY_KINDS)[number];
/** Assumption about a ratio before anything was reported: its mean and deviation. */
type Prior = Readonly<Record<Kind, readonly [mean: number, deviation: number]>>;

/** Vocabularies differ most in scripts other than Latin, and hardly ever need fewer tokens than ours. */
const UNKNOWN_VOCABULARY: Prior = {
  word: [1.05, 0.08],
  mark: [1.02, 0.12],
  opaque: [1.05, 0.1],
  symbol: [1.2, 0.3],
  accented: [1.15, 0.15],
  han: [1.3, 0.25],
  kana: [1.28, 0.25],
  hangul: [1.35, 0.35],
  cyrillic: [1.4, 0.35],
  arabic: [1.7, 0.6],
  thai: [1.7, 0.6],
  other: [2.2, 0.9],
  tools: [1, 0.25],
  media: [1, 0.5],
  frame: [1, 0.6],
};

/** Models with the vocabulary that our count follows. */
const SAME_VOCABULARY: Prior = {
  word: [1, 0.04],
  mark: [1, 0.04],
  opaque: [1, 0.06],
  symbol: [1, 0.1],
  accented: [1, 0.06],
  han: [1, 0.06],
  kana: [1, 0.06],
  hangul: [1, 0.06],
  cyrillic: [1, 0.06],
  arabic: [1, 0.08],
  thai: [1, 0.08],
  other: [1, 0.1],
  tools: [0.9, 0.2],
  media: [1, 0.5],
  frame: [1, 0.5],
};

const SAME_VOCABULARY_NAMES = /gpt-(?:4o|4\.\d|5|oss)|chatgpt|(?:^|[/:])o[1-9](?:-|$)/i;
const COMMON_DEVIATION = 0.18;
const COMMON_DEVIATION_SAME = 0.03;

/** How far our count of a text is off, as a share of it, once the ratios are right. */
const OWN_ERROR = 0.035;
const OWN_ERROR_TOKENS = 6;
/** How far a ratio wanders between two reports: the texts of a thread change. */
const WANDER = 0.008;
/** Deviations added to what is expected; fewer before the first report, when they would be most of the count. */
const MARGIN = 1.6;
const MARGIN_UNREPORTED = 0.7;
const LEAST_RATIO = 0.25;
const GREATEST_RATIO = 8;
/** A report further off than this many deviations is believed the less. */
const OUTLIER = 4;
const SIZE = TALLY_KINDS.length;

export interface Expectation {
  readonly tokens: number;
  /** One standard deviation. */
  readonly deviation: number;
}

export class Calibration {
  /** How many reports it was made from. */
  reports = 0;
  /** Whether the provider reports what came from a cache beside `input_tokens`, not inside. */
  isCacheBeside = false;
  private readonly ratios: number[] = [];
  private readonly covariance: number[][] = [];

  constructor(modelName: string) {
    const isSame = SAME_VOCABULARY_NAMES.test(modelName);
    const prior = isSame ? SAME_VOCABULARY : UNKNOWN_VOCABULARY;
    const common = (isSame ? COMMON_DEVIATION_SAME : COMMON_DEVIATION) ** 2;
    TALLY_KINDS.forEach((kind, i) => {
      const [mean, deviation] = prior[kind];
      this.ratios.push(mean);
      const row = TALLY_KINDS.map(() => common);
      row[i] = common + deviation ** 2;
      this.covariance.push(row);
    });
  }

  expect(tally: Tally): Expectation {
    const present = kindsIn(tally);
    let tokens = 0;
    let variance = 0;
    let size = 0;
    for (const i of present) {
      const count = tally[i] as number;
      tokens += count * (this.ratios[i] as number);
      variance += count * dot(this.covariance[i] as number[], tally, present);
      size += Math.abs(count);
    }
    const own = OWN_ERROR * size;
    return { tokens, deviation: Math.sqrt(Math.max(0, variance) + own * own) };
  }

  /** With the margin, so that a count is rarely under; in whole tokens. */
  leaningUp({ tokens, deviation }: Expectation): number {
    const margin = this.reports === 0 ? MARGIN_UNREPORTED : MARGIN;
    return Math.max(0, Math.ceil(tokens + margin * deviation));
  }

  /** The provider counted `tokens` for what we tallied; `doubt` is in tokens. False: it was not believable. */
  observe(tally: Tally, tokens: number, doubt = 0): boolean {
    let raw = 0;
    for (const count of tally) raw += count;
    if (!Number.isFinite(tokens) || tokens <= 0 || raw <= 0 || tokens > raw * 10 || tokens < raw / 10)
      return false;
    this.covariance.forEach((row, i) => {
      row[i] = (row[i] as number) + WANDER * WANDER;
    });
    const present = kindsIn(tally);
    const spread = this.covariance.map((row) => dot(row, tally, present));
    const known = dot(spread, tally, present);
    const surprise = tokens - dot(this.ratios, tally, present);
    const noise = (OWN_ERROR * raw) ** 2 + OWN_ERROR_TOKENS ** 2 + doubt * doubt;
    const variance = Math.max(known + noise, (surprise / OUTLIER) ** 2);
    for (let i = 0; i < SIZE; i += 1) {
      const gain = (spread[i] as number) / variance;
      const ratio = (this.ratios[i] as number) + gain * surprise;
      this.ratios[i] = Math.min(GREATEST_RATIO, Math.max(LEAST_RATIO, ratio));
      const row = this.covariance[i] as number[];
      for (let k = 0; k < SIZE; k += 1) row[k] = (row[k] as number) - gain * (spread[k] as number);
    }
    this.reports += 1;
    return true;
  }
}

/** Most texts are of a few kinds: only these are counted with. */
function kindsIn(tally: Tally): readonly number[] {
  const present: number[] = [];
  for (let i = 0; i < SIZE; i += 1) if (tally[i] !== 0) present.push(i);
  return present;
}

function dot(a: readonly number[], b: readonly number[], places: readonly number[]): number {
  let sum = 0;
  for (const i of places) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
