/** Asks what becomes of a plan. */
import type { Theme } from "../view/theme.ts";
import type { Panel } from "./panel.ts";
import { Picker } from "./picker.ts";

/** `done` gets the command that the person chose; undefined: they say more first. */
export function planPanel(theme: Theme, done: (command: string | undefined) => void): Panel {
  return new Picker<string | undefined>({
    title: "Carry out the plan?",
    theme,
    needsReading: true,
    items: [
      {
        value: "/approve",
        label: "yes",
        description: "files change without a question, commands are asked about",
      },
      { value: "/approve fresh", label: "yes, in a new thread", description: "which knows only the plan" },
      { value: undefined, label: "not yet", description: "say what should be different" },
    ],
    onPick: done,
    onClose: () => done(undefined),
  });
}
