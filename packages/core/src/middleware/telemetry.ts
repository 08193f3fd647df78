/** Writes OpenTelemetry spans of an agent's runs, of the runs inside them, of model requests and of tool calls. */
import { type Attributes, type Tracer, type TracerProvider, trace } from "@opentelemetry/api";
import type { AgentMiddleware } from "langchain";
import { checkKind, checkNames } from "../check-options.ts";
import { ConfigurationError } from "../errors.ts";
import type { Stages, WithStages } from "../loop/contract/stages.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";
import { type Redact, Redaction } from "../telemetry/redaction.ts";
import { Telemetry, type TelemetrySettings } from "../telemetry/telemetry.ts";

/** null means absent. */
export interface TelemetryMiddlewareOptions {
  /** Writes the spans; default: one named `deepwright` of `tracerProvider`, or of the global provider. */
  readonly tracer?: Tracer | null;
  readonly tracerProvider?: TracerProvider | null;
  /** Whether spans have messages, arguments, results and the words of errors, without secrets; default false. */
  readonly captureContent?: boolean | null;
  /** Redacts a text after secrets were removed; a function that throws hides the text. */
  readonly redact?: Redact | null;
  /** Attributes of every span. */
  readonly attributes?: Attributes | null;
}

export type TelemetryMiddleware = AgentMiddleware & WithStages;

/** Covers all runs inside the agent's runs, also those of agents without it. */
export function createTelemetryMiddleware(given?: TelemetryMiddlewareOptions | null): TelemetryMiddleware {
  const options = given ?? {};
  checkOptions(options);
  const settings: TelemetrySettings = {
    tracer: options.tracer ?? (options.tracerProvider ?? trace).getTracer("deepwright"),
    captureContent: options.captureContent ?? false,
    redact: options.redact ?? undefined,
    attributes: options.attributes ?? {},
  };
  const stages: Stages = {
    tree: ({ observer }) => ({
      observer: observer instanceof Telemetry ? observer.with(settings) : begun(settings),
    }),
  };
  return builtInMiddleware({ name: "TelemetryMiddleware", stages });
}

function begun(settings: TelemetrySettings): Telemetry {
  return new Telemetry(settings, new Redaction().and(settings.redact));
}

const OPTION_NAMES = ["tracer", "tracerProvider", "captureContent", "redact", "attributes"];

function checkOptions(options: TelemetryMiddlewareOptions): void {
  checkNames("createTelemetryMiddleware", options, OPTION_NAMES);
  const { tracer, tracerProvider, captureContent, redact, attributes } = options;
  checkKind("boolean", { captureContent });
  checkKind("function", { redact });
  if (tracer != null && typeof tracer.startSpan !== "function")
    throw new ConfigurationError("INVALID_OPTION", "The option 'tracer' must be a tracer of OpenTelemetry.");
  if (tracerProvider != null && typeof tracerProvider.getTracer !== "function")
    throw new ConfigurationError(
      "INVALID_OPTION",
      "The option 'tracerProvider' must be a provider of tracers of OpenTelemetry.",
    );
  if (attributes != null && (typeof attributes !== "object" || Array.isArray(attributes)))
    throw new ConfigurationError("INVALID_OPTION", "The option 'attributes' must be a record of attributes.");
}
