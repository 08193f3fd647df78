/** Choices of the person that stay in this browser. Nothing secret is kept there. */
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "deepwright-theme";

export const theme = signal<Theme>(read());

function read(): Theme {
  const name = kept(KEY);
  return name === "light" || name === "dark" ? name : "system";
}

export function followTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
    keep(KEY, theme.value);
  });
  effect(() => keep(WEBHOOK_KEY, webhook.value));
}

/** In a browser that keeps nothing, choices hold as long as the page is open. */
function keep(key: string, value: string): void {
  try {
    if (value === "") localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    return;
  }
}

const WEBHOOK_KEY = "deepwright-webhook";

/** The address that runs of this page tell of their end. Empty: none. */
export const webhook = signal(kept(WEBHOOK_KEY));

function kept(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

/** Whether the work would cover the conversation. */
export function isNarrow(): boolean {
  return matchMedia("(max-width: 1100px)").matches;
}

/** Parts beside the conversation that are open. On a narrow screen they cover it. */
export const sidebarOpen = signal(!matchMedia("(max-width: 760px)").matches);
export const panelOpen = signal(!isNarrow());
export const paletteOpen = signal(false);
