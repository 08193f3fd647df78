/** Settings about the looks of the app. Pure. */
import type { Settings } from "../../settings/schema.ts";

export type Looks = Pick<Settings, "theme" | "notifications" | "statusLine" | "keybindings" | "vim">;

/** The sequence that makes a terminal call the person. The words are our own. */
export function notification(kind: Looks["notifications"], words: string): string {
  switch (kind) {
    case "off":
      return "";
    case "bell":
      return "\x07";
    case "osc9":
      return `\x1b]9;${words}\x07`;
    case "osc777":
      return `\x1b]777;notify;deepwright;${words}\x07`;
    default:
      return `\x07\x1b]9;${words}\x07`;
  }
}
