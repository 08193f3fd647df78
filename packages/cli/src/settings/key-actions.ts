/** Actions of the terminal app whose keys the settings may change. */
export const KEY_ACTIONS = [
  "next-mode",
  "details",
  "subagents",
  "external-editor",
  "queue-message",
  "take-back",
  "leave",
] as const;

export type KeyAction = (typeof KEY_ACTIONS)[number];

/** With a modifier, or a key that writes nothing. Enter, Esc and Ctrl-C stay what they are, and Ctrl-M is Enter. */
export const KEY =
  /^(?:(?!ctrl\+[cm]$)(?:(?:ctrl|alt)\+(?:shift\+)?(?:[a-z0-9]|enter|tab|space|up|down|left|right)|shift\+tab)|tab|f(?:[1-9]|1[0-2]))$/;
