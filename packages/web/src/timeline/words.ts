/** Texts of the timeline. They are loaded with it. */
import { grouped } from "../words.ts";

const count = (amount: number, one: string): string => `${grouped(amount)} ${one}${amount === 1 ? "" : "s"}`;

export const timelineWords = {
  title: "Timeline",
  region: "Timeline of the agents",
  background: "In the background",
  loading: "Reading the runs…",
  nothing: "The server has no events of this thread. It keeps them for a day.",
  failed: (reason: string) => `A part of the timeline could not be read: ${reason}`,
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  fit: "Fit",
  kinds: { model: "model call", tool: "tool call", wait: "waits for you" } as Readonly<
    Record<string, string>
  >,
  open: (name: string) => `Open the conversation of ${name}`,
  lane: (name: string) => `Work of ${name}`,
  summary: (model: number, tools: number) => `${count(model, "model call")}, ${count(tools, "tool call")}`,
  waited: (time: string) => `waited ${time}`,
  ends: { error: "failed", stopped: "stopped" } as Readonly<Record<string, string>>,
  atWork: "at work",
  after: (time: string) => `after ${time}`,
} as const;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** 4,200 as `4.2 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < SECOND) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < MINUTE) return `${(milliseconds / SECOND).toFixed(1)} s`;
  if (milliseconds < HOUR)
    return `${Math.floor(milliseconds / MINUTE)} min ${Math.round((milliseconds % MINUTE) / SECOND)} s`;
  return `${Math.floor(milliseconds / HOUR)} h ${Math.round((milliseconds % HOUR) / MINUTE)} min`;
}
