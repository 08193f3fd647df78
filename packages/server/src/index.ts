/** Agents as a service: `createApp` is a function from requests to answers, `serve` puts it on a port. */

export { AGENT_KIND_KEY, AgentKinds, type AgentKindsOptions } from "./agent-facts/agent-kinds.ts";
export { ModelChoices, type ModelChoicesOptions, RUN_MODEL_KEY } from "./agent-facts/model-choices.ts";
export type { AgentRegistry, AgentSource } from "./agents/registry.ts";
export type { ApprovalLinkOptions } from "./approval-links/approval-links.ts";
export {
  type AllowRule,
  APPROVAL_MODES,
  type ApprovalMode,
  isApprovalMode,
} from "./approval-modes/approval-mode.ts";
export {
  APPROVAL_MODE_KEY,
  ApprovalModes,
  type ApprovalModesOptions,
} from "./approval-modes/approval-modes.ts";
export type { ReviewContext, SettingsOfHost } from "./host-settings/host-settings.ts";
export { type AppOptions, createApp, type ServerApp } from "./http/app.ts";
export type { Authenticate, Caller } from "./http/authenticate.ts";
export { LIMITS, type Limits } from "./http/limits/limits.ts";
export type { Rate } from "./http/limits/rate-limit.ts";
export { defaultTokenPath, openTokenFile, type ServerToken } from "./http/token-file.ts";
export { openRecords } from "./records/open-records.ts";
export type { ServerRecords } from "./records/records.ts";
export type { RunService } from "./runs/run-service.ts";
export { defaultDatabase, type RunningServer, type ServeOptions, serve } from "./serve.ts";
