/** The tab that is shown beside the conversation. */
import { signal } from "@preact/signals";
import { panelOpen } from "../state/preferences.ts";

export const WORK_TABS = ["todos", "changes", "files", "subagents", "usage"] as const;
export type WorkTab = (typeof WORK_TABS)[number];

export const workTab = signal<WorkTab>("todos");

export function showWork(tab: WorkTab): void {
  workTab.value = tab;
  panelOpen.value = true;
}
