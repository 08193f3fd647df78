/** Parts a stream into lines without looking at anything twice: a line may be long and come in many pieces. */

export class MessageLines {
  private readonly pieces: Buffer[] = [];
  private size = 0;

  constructor(private readonly maxBytes: number) {}

  /** The lines that end in `chunk`. Throws for a line that is too long, and drops the buffer. */
  *take(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.keep(chunk.subarray(start, end));
      start = end + 1;
      yield this.line();
    }
    this.keep(chunk.subarray(start));
  }

  private keep(piece: Buffer): void {
    this.size += piece.length;
    if (this.size > this.maxBytes) {
      this.clear();
      throw new Error(`It sent a message of more than ${this.maxBytes} bytes.`);
    }
    if (piece.length > 0) this.pieces.push(piece);
  }

  private line(): string {
    const text = Buffer.concat(this.pieces).toString("utf8").replace(/\r$/, "");
    this.clear();
    return text;
  }

  private clear(): void {
    this.pieces.length = 0;
    this.size = 0;
  }
}

const NEWLINE = 10;
