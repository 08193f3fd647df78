/** Which keys do what in the app. The person may change them in the settings. */
import { type KeyId, matchesKey } from "@earendil-works/pi-tui";
import { KEY_ACTIONS, type KeyAction } from "../../settings/key-actions.ts";

export interface Action {
  readonly keys: readonly string[];
  /** For help. */
  readonly words: string;
}

/** Enter, Esc and Ctrl-C are always themselves. */
export const ACTIONS = {
  "next-mode": { keys: ["shift+tab"], words: "next mode: ask, accept-edits, plan, auto" },
  details: { keys: ["ctrl+o"], words: "tool calls and thoughts in full" },
  subagents: { keys: ["tab"], words: "subagents, with an empty input: open one, stop it, tell it something" },
  "external-editor": { keys: ["ctrl+g"], words: "write in $VISUAL or $EDITOR" },
  "queue-message": { keys: ["alt+enter"], words: "new line; while the agent works: for afterwards" },
  "take-back": { keys: ["alt+up"], words: "take the last queued message back" },
  leave: { keys: ["ctrl+d"], words: "leave, with an empty input" },
} as const satisfies Record<KeyAction, Action>;

export type ActionName = KeyAction;
export const ACTION_NAMES = KEY_ACTIONS;

/** Keys of actions as the settings change them; an empty list turns an action off. */
export type Keybindings = { readonly [Name in ActionName]?: string | readonly string[] | undefined };

export function keysOf(name: ActionName, given: Keybindings = {}): readonly string[] {
  const keys = given[name] ?? ACTIONS[name].keys;
  return typeof keys === "string" ? [keys] : keys;
}

/** The action of a key; the person's keys count more than those that another action has by itself. */
export function actionOf(data: string, given: Keybindings = {}): ActionName | undefined {
  const fits = (name: ActionName): boolean =>
    keysOf(name, given).some((key) => matchesKey(data, key as KeyId));
  const chosen = ACTION_NAMES.filter((name) => given[name] !== undefined);
  return chosen.find(fits) ?? ACTION_NAMES.find(fits);
}

/** `ctrl+o` as people write it: `Ctrl-O`. */
export function keyWords(name: ActionName, given: Keybindings = {}): string {
  return keysOf(name, given)
    .map((key) =>
      key
        .split("+")
        .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
        .join("-"),
    )
    .join(", ");
}
