/** Commands of the app: what a person types behind a slash. */

import type { Keybindings } from "../keys/bindings.ts";
import type { Panel } from "../panels/panel.ts";
import type { Place } from "../session/place.ts";
import type { Session } from "../session/session.ts";
import type { Theme } from "../view/theme.ts";

export interface CommandHost {
  readonly session: Session;
  readonly place: Place;
  readonly theme: Theme;
  readonly directory: string;
  readonly commands: readonly AppCommand[];
  /** Keys of the screen as the settings change them; absent: there is no screen with keys. */
  readonly keybindings?: Keybindings;
  /** Lines for the scrollback; they must be safe. */
  say(...lines: string[]): void;
  show(panel: Panel): void;
  closePanel(): void;
  /** A panel has more to show. */
  changed(): void;
  /** Shows that the person's own command works, until the returned function is called; `stop` is for Esc. */
  working(words: string, stop: () => void): () => void;
  /** Yes or no. */
  confirm(question: string): Promise<boolean>;
  /** Shows the thread of the session from its beginning. */
  replay(): void;
  /** Opens the place again with another model. */
  changeModel(model: string): Promise<void>;
  setText(text: string): void;
  copy(text: string): void;
  leave(): void;
}

export interface AppCommand {
  readonly name: string;
  readonly description: string;
  /** Arguments shown after the name in the help. */
  readonly usage?: string;
  /** Whether it may run while the agent works. Default false. */
  readonly isQuick?: boolean;
  run(host: CommandHost, words: string): Promise<void> | void;
}
