/** Spans as the real SDK of OpenTelemetry exports them. */
import type { HrTime } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

export interface Spans {
  readonly provider: BasicTracerProvider;
  all(): readonly ReadableSpan[];
  /** The only span of this name. */
  one(name: string): ReadableSpan;
  named(name: string): readonly ReadableSpan[];
  /** Each root with what is inside, in the order of begin, two spaces a level. */
  outline(): string;
  /** Everything an exporter could send. */
  text(): string;
}

export function recordSpans(): Spans {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const all = (): ReadableSpan[] => exporter.getFinishedSpans().toSorted(byStart);
  const named = (name: string): ReadableSpan[] => all().filter((span) => span.name === name);
  return {
    provider,
    all,
    named,
    one: (name) => {
      const [span, ...more] = named(name);
      if (span === undefined || more.length > 0)
        throw new Error(`There are ${more.length + (span ? 1 : 0)} spans '${name}' in:\n${outline(all())}`);
      return span;
    },
    outline: () => outline(all()),
    text: () =>
      JSON.stringify(
        all().map(({ name, attributes, events, status, links }) => ({
          ...{ name, attributes, events, status, links },
        })),
      ),
  };
}

function outline(spans: readonly ReadableSpan[], parent?: string, indent = ""): string {
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  return spans
    .filter(({ parentSpanContext: above }) =>
      parent === undefined ? !known.has(above?.spanId ?? "") : above?.spanId === parent,
    )
    .map((span) => {
      const inside = outline(spans, span.spanContext().spanId, `${indent}  `);
      return `${indent}${span.name}${inside === "" ? "" : `\n${inside}`}`;
    })
    .join("\n");
}

function byStart(one: ReadableSpan, other: ReadableSpan): number {
  const [a, b] = [one.startTime, other.startTime] as [HrTime, HrTime];
  return a[0] - b[0] || a[1] - b[1];
}
