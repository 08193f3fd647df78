/** Spans for OpenTelemetry. A subpath of its own: who does not import it does not load `@opentelemetry/api`. */
export {
  createTelemetryMiddleware,
  type TelemetryMiddleware,
  type TelemetryMiddlewareOptions,
} from "../middleware/telemetry.ts";
