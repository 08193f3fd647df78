/** Keys, pastes and answers of the terminal. Raw mode holds between `open` and `close`. */
import { isKeyRelease, StdinBuffer, setKittyProtocolActive } from "@earendil-works/pi-tui";

export interface KeyboardEvents {
  /** A key as the terminal sends it. */
  onKey(data: string): void;
  onPaste(text: string): void;
  onFocus(isFocused: boolean): void;
  /** The background as the terminal names it. */
  onBackground(answer: string): void;
  /** Nobody types any more: the terminal is gone. */
  onEnd(): void;
}

/** Bracketed paste, focus reports, and questions for extended keys and the background. */
const ON = "\x1b[?2004h\x1b[?1004h\x1b[?u\x1b]11;?\x07";
const OFF = "\x1b[?2004l\x1b[?1004l\x1b[?25h";
const EXTENDED_ON = "\x1b[>1u";
const EXTENDED_OFF = "\x1b[<u";
const ESCAPE = String.fromCharCode(27);

export class Keyboard {
  private buffer: StdinBuffer | undefined;
  private isExtended = false;
  private readonly take = (data: string): void => this.buffer?.process(data);
  private readonly end = (): void => this.events.onEnd();

  constructor(
    private readonly input: NodeJS.ReadStream,
    private readonly output: { write(text: string): unknown },
    private readonly events: KeyboardEvents,
  ) {}

  open(): void {
    this.buffer = new StdinBuffer({ timeout: 25 });
    this.buffer.on("data", (data) => this.key(data));
    this.buffer.on("paste", (text) => this.events.onPaste(text));
    this.input.setRawMode?.(true);
    this.input.setEncoding("utf8");
    this.input.on("data", this.take);
    this.input.on("end", this.end);
    this.input.resume();
    this.output.write(ON);
  }

  close(): void {
    this.output.write(`${this.isExtended ? EXTENDED_OFF : ""}${OFF}`);
    this.isExtended = false;
    setKittyProtocolActive(false);
    this.input.off("data", this.take);
    this.input.off("end", this.end);
    this.buffer?.destroy();
    this.input.setRawMode?.(false);
    this.input.pause();
  }

  private key(data: string): void {
    const answer = data.startsWith(ESCAPE) ? data.slice(1) : "";
    if (answer === "[I" || answer === "[O") this.events.onFocus(answer === "[I");
    else if (/^\[\?\d+u$/.test(answer)) this.extend();
    else if (answer.startsWith("]11;")) this.events.onBackground(answer);
    // Other answers of terminals are no keys.
    else if (/^\]|^\[\?|^P|^\[\d+;\d+R$/.test(answer)) return;
    else if (!isKeyRelease(data)) this.events.onKey(data);
  }

  private extend(): void {
    if (this.isExtended) return;
    this.isExtended = true;
    setKittyProtocolActive(true);
    this.output.write(EXTENDED_ON);
  }
}
