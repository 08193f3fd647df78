/** Agents as a service. */
export type { RunEvent, RunRecord, ServerRecords, ThreadRecord } from "./records/records.ts";
