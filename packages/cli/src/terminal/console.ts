/**
 * Where the CLI writes: the answer to stdout, everything else to stderr. Nothing reaches either
 * without passing the sanitiser.
 */
import pc from "picocolors";
import { SafeStream, safeJson } from "./safe-text.ts";

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export type Colours = ReturnType<typeof pc.createColors>;

export class Console {
  readonly colours: Colours;
  /** For lines given to `result`. */
  readonly resultColours: Colours;
  private readonly answer = new SafeStream();
  /** Whether what was last written to stdout stopped inside a line. */
  private midLine = false;
  private readonly stdout: Output;
  private readonly stderr: Output;

  constructor(stdout: Output, stderr: Output, environment: NodeJS.ProcessEnv) {
    this.stdout = stdout;
    this.stderr = stderr;
    this.colours = pc.createColors(wantsColours(stderr, environment));
    this.resultColours = pc.createColors(wantsColours(stdout, environment));
  }

  /** Characters a line on stderr should have at most. */
  get width(): number {
    return Math.max(this.stderr.columns ?? 100, 40);
  }

  /** A piece of the assistant's text, raw as the model sent it. */
  text(piece: string): void {
    this.put(this.answer.push(piece));
  }

  /** Ends the line the assistant's text stopped in. */
  endText(): void {
    this.put(this.answer.end());
    if (this.midLine) this.put("\n");
  }

  /** One line on stderr. The text must be safe already: it may carry our own colours. */
  line(text: string): void {
    this.endText();
    this.stderr.write(`${text}\n`);
  }

  /** One line of a result on stdout. The text must be safe already: it may carry our own colours. */
  result(text: string): void {
    this.stdout.write(`${text}\n`);
  }

  /** One value as a line of JSON on stdout. */
  json(text: string): void {
    this.stdout.write(`${safeJson(text)}\n`);
  }

  private put(text: string): void {
    if (text === "") return;
    this.stdout.write(text);
    this.midLine = !text.endsWith("\n");
  }
}

/** Colours are for people: only on a terminal, and not for those who set NO_COLOR. */
export function wantsColours(output: Output, environment: NodeJS.ProcessEnv): boolean {
  return output.isTTY === true && !environment.NO_COLOR && environment.TERM !== "dumb";
}
