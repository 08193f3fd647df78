/** A panel in the place of the editor: a list, a text to read, a question. */
export interface Panel {
  /** It asks about calls and has written them out; arguments that the person changed would stand beside old ones. */
  readonly isQuestion?: boolean;
  /** It takes most of the screen, in the place of everything else. */
  readonly isTall?: boolean;
  /** Pure but for its own selection; at most `rows` of them are shown. */
  rows(width: number, rows: number): readonly string[];
  /** A key as the terminal sends it. */
  handle(data: string): void;
}
