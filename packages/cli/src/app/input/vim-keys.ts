/** Vim's keys in front of the editor: keys of normal mode become keys that the editor knows. */
import { decodeKittyPrintable, matchesKey } from "@earendil-works/pi-tui";

const KEYS = {
  left: "\x1b[D",
  right: "\x1b[C",
  up: "\x1b[A",
  down: "\x1b[B",
  start: "\x01",
  end: "\x05",
  wordLeft: "\x1bb",
  wordRight: "\x1bf",
  deleteForward: "\x1b[3~",
  deleteToStart: "\x15",
  deleteToEnd: "\x0b",
  deleteWord: "\x1bd",
  deleteWordBack: "\x17",
  undo: "\x1f",
  paste: "\x19",
  newLine: "\n",
} as const;
type Key = keyof typeof KEYS;

interface Command {
  readonly keys: readonly Key[];
  /** Typing goes on in insert mode. */
  readonly inserts?: true;
}

const motion = (...keys: readonly Key[]): Command => ({ keys });
const insert = (...keys: readonly Key[]): Command => ({ keys, inserts: true });

const COMMANDS: Readonly<Record<string, Command>> = {
  h: motion("left"),
  l: motion("right"),
  k: motion("up"),
  j: motion("down"),
  w: motion("wordRight"),
  e: motion("wordRight"),
  b: motion("wordLeft"),
  "0": motion("start"),
  "^": motion("start"),
  $: motion("end"),
  x: motion("deleteForward"),
  D: motion("deleteToEnd"),
  u: motion("undo"),
  p: motion("paste"),
  dd: motion("end", "deleteToStart"),
  dw: motion("deleteWord"),
  db: motion("deleteWordBack"),
  d$: motion("deleteToEnd"),
  d0: motion("deleteToStart"),
  i: insert(),
  a: insert("right"),
  I: insert("start"),
  A: insert("end"),
  o: insert("end", "newLine"),
  O: insert("start", "newLine", "up"),
  C: insert("deleteToEnd"),
  cc: insert("end", "deleteToStart"),
  cw: insert("deleteWord"),
  cb: insert("deleteWordBack"),
};

export class VimKeys {
  isNormal = false;
  private pending = "";

  constructor(private readonly send: (data: string) => void) {}

  /** False: the key is for the editor or the app. */
  handle(data: string): boolean {
    if (!this.isNormal) {
      if (!matchesKey(data, "escape")) return false;
      this.isNormal = true;
      return true;
    }
    const letter = decodeKittyPrintable(data) ?? data;
    if (!/^[^\p{Cc}]$/u.test(letter)) {
      this.pending = "";
      return false;
    }
    this.letter(this.pending + letter);
    return true;
  }

  /** A new message begins in insert mode. */
  reset(): void {
    this.isNormal = false;
    this.pending = "";
  }

  private letter(typed: string): void {
    const command = Object.hasOwn(COMMANDS, typed) ? COMMANDS[typed] : undefined;
    this.pending = command === undefined && /^[dc]$/.test(typed) ? typed : "";
    if (command === undefined) return;
    for (const key of command.keys) this.send(KEYS[key]);
    if (command.inserts) this.isNormal = false;
  }
}
