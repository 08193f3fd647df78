/** Short notices, each with perhaps one action such as a second yes. They leave by themselves. */
import { signal } from "@preact/signals";
import { failureWords } from "./connection.ts";

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly isFailure: boolean;
  readonly action?: { readonly label: string; readonly run: () => void };
}

export const notices = signal<readonly Notice[]>([]);

const SHOWN_MS = 10_000;
let last = 0;

export function notify(
  text: string,
  { isFailure = false, action }: Partial<Omit<Notice, "id" | "text">> = {},
): void {
  last += 1;
  const id = last;
  notices.value = [...notices.peek().slice(-3), { id, text, isFailure, ...(action && { action }) }];
  setTimeout(() => dismiss(id), SHOWN_MS);
}

export function dismiss(id: number): void {
  notices.value = notices.peek().filter((notice) => notice.id !== id);
}

/** Runs the action and says why it failed, if it did. */
export function attempt(action: () => Promise<unknown>): void {
  action().catch((error: unknown) => notify(failureWords(error), { isFailure: true }));
}
