/** Facts about the server. */
import { z } from "zod";

export const ok = z.object({ ok: z.literal(true) });
export type Ok = z.infer<typeof ok>;

export const ready = z.object({ ready: z.literal(true) });
export type Ready = z.infer<typeof ready>;

/** Flags say which parts are there. */
export const info = z.object({
  version: z.string(),
  langgraph_js_version: z.string().optional(),
  flags: z.record(z.string(), z.unknown()).default({}),
});
export type Info = z.infer<typeof info>;

/** OpenAPI 3.1. */
export const openApi = z.looseObject({ openapi: z.string() });
