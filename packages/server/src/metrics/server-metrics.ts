/** Metrics of this process as text for Prometheus. Labels name agents, models, tools and tables; never callers, threads or contents. */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { AgentOutcome, RunStatus } from "@deepwright/protocol";
import { openSandboxCounts } from "deepwright/internal";
import type { WaitingRuns } from "../records/records.ts";
import { type CallCounts, CallMetrics, type MeasuredCall, type MeasuredModelCall } from "./call-metrics.ts";
import { BoundedNames, Counter, type Gauge, gaugeText, Histogram, type Sample } from "./exposition.ts";

export interface MeasuredRun {
  /** One of the agents of the server; absent if none was loaded. */
  readonly agent: string | undefined;
  readonly status: RunStatus;
  readonly outcome?: AgentOutcome | undefined;
}

/** Different values of one label; further ones count as `other`. */
const MOST_NAMES = 100;

/** Milliseconds of the timer that measures the event loop. Measured delays contain it, so it is subtracted. */
const LOOP_TIMER_MS = 20;

/** Upper bounds of histograms, in seconds. */
const FAST = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];
const SLOW = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export class ServerMetrics implements CallCounts {
  readonly #runs = new Counter("deepwright_runs_total", "Runs that a worker of this process ended.");
  readonly #runTime = new Histogram("deepwright_run_seconds", "Time a worker had a run that ended.", [
    ...SLOW,
    1_800,
    7_200,
  ]);
  readonly #modelTime = new Histogram("deepwright_model_call_seconds", "Duration of model calls.", SLOW);
  readonly #tokens = new Counter("deepwright_model_tokens_total", "Tokens that providers reported.");
  readonly #toolTime = new Histogram("deepwright_tool_call_seconds", "Duration of tool calls.", [
    0.01,
    ...SLOW,
  ]);
  readonly #databaseTime = new Histogram(
    "deepwright_database_seconds",
    "Time until the database answered a call of the records or the saver.",
    FAST,
  );
  readonly #models = new BoundedNames(MOST_NAMES);
  readonly #tools = new BoundedNames(MOST_NAMES);
  readonly #loopDelay: IntervalHistogram;

  constructor() {
    this.#loopDelay = monitorEventLoopDelay({ resolution: LOOP_TIMER_MS });
    this.#loopDelay.enable();
  }

  /** LangChain callbacks for one run, which count its calls. */
  callbacks(): CallMetrics {
    return new CallMetrics(this);
  }

  ranRun({ agent = "none", status, outcome }: MeasuredRun, seconds: number): void {
    this.#runs.add({ agent, status, outcome: outcome?.kind ?? "none" });
    this.#runTime.observe({ agent }, seconds);
  }

  askedModel(name: string, { seconds, result, usage }: MeasuredModelCall): void {
    const model = this.#models.of(name);
    this.#modelTime.observe({ model, result }, seconds);
    if (usage === undefined) return;
    const cached = usage.input_token_details?.cache_read ?? 0;
    this.#tokens.add({ model, kind: "input" }, usage.input_tokens);
    this.#tokens.add({ model, kind: "output" }, usage.output_tokens);
    if (cached > 0) this.#tokens.add({ model, kind: "cached_input" }, cached);
  }

  calledTool(name: string, { seconds, result }: MeasuredCall): void {
    this.#toolTime.observe({ tool: this.#tools.of(name), result }, seconds);
  }

  /** Measures a database call. `part` is a table of the records, or `checkpoints`. */
  async timed<Result>(part: string, work: () => Promise<Result>): Promise<Result> {
    const begun = performance.now();
    try {
      return await work();
    } finally {
      this.#databaseTime.observe({ part }, (performance.now() - begun) / 1_000);
    }
  }

  /** The answer of `/metrics`. Delays of the event loop are those since the last call. */
  text(now: { readonly active: number; readonly waiting: WaitingRuns | undefined }): string {
    const gauges = [...queueGauges(now), sandboxGauge(), this.#loopGauge()];
    const families = [
      this.#runs,
      this.#runTime,
      this.#modelTime,
      this.#tokens,
      this.#toolTime,
      this.#databaseTime,
    ];
    return `${[...families.map((family) => family.text()), ...gauges.map(gaugeText)].join("\n")}\n`;
  }

  close(): void {
    this.#loopDelay.disable();
  }

  #loopGauge(): Gauge {
    const delay = this.#loopDelay;
    const quantile = (share: number): Sample => ({
      labels: { quantile: String(share) },
      value: delay.count === 0 ? 0 : Math.max(0, delay.percentile(share * 100) / 1e9 - LOOP_TIMER_MS / 1_000),
    });
    const samples = [quantile(0.5), quantile(0.99), quantile(1)];
    delay.reset();
    const help = "Delay of the event loop since the last reading.";
    return { name: "deepwright_event_loop_delay_seconds", help, samples };
  }
}

function queueGauges({
  active,
  waiting,
}: {
  readonly active: number;
  readonly waiting: WaitingRuns | undefined;
}): Gauge[] {
  const gauge = (name: string, help: string, value: number): Gauge => ({ name, help, samples: [{ value }] });
  return [
    gauge("deepwright_runs_active", "Runs that this process works on.", active),
    ...(waiting
      ? [
          gauge(
            "deepwright_queue_runs",
            "Runs of all processes that may begin and have not begun.",
            waiting.count,
          ),
          gauge("deepwright_queue_oldest_seconds", "Age of the oldest of them.", waiting.oldestSeconds),
        ]
      : []),
  ];
}

function sandboxGauge(): Gauge {
  const samples = [...openSandboxCounts()].map(([provider, value]) => ({ labels: { provider }, value }));
  return { name: "deepwright_sandboxes_open", help: "Sandboxes that this process holds.", samples };
}
