/** The server's end of a WebSocket, as far as the tests need it: text both ways, and the end. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

export class WebSocketForTests {
  readonly #socket: Duplex;
  #input = Buffer.alloc(0);
  #parts: Buffer[] = [];

  private constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on("error", () => undefined);
  }

  /** Accepts the upgrade. `onText` gets each message, `onGone` is called once when the client has left. */
  static accept(
    request: IncomingMessage,
    socket: Duplex,
    onText: (text: string) => void,
    onGone: () => void,
  ): WebSocketForTests {
    const key = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${GUID}`).digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`,
    );
    const webSocket = new WebSocketForTests(socket);
    socket.on("data", (chunk: Buffer) => webSocket.#take(chunk, onText));
    socket.once("close", onGone);
    return webSocket;
  }

  send(text: string): void {
    this.#frame(TEXT, Buffer.from(text));
  }

  close(code = 1000): void {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    this.#frame(CLOSE, payload);
    this.#socket.end();
  }

  /** As a network does. */
  drop(): void {
    this.#socket.destroy();
  }

  #frame(opcode: number, payload: Buffer): void {
    const { length } = payload;
    const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
    header[0] = 0x80 | opcode;
    if (length < 126) header[1] = length;
    else if (length < 65_536) {
      header[1] = 126;
      header.writeUInt16BE(length, 2);
    } else {
      header[1] = 127;
      header.writeBigUInt64BE(BigInt(length), 2);
    }
    if (!this.#socket.destroyed) this.#socket.write(Buffer.concat([header, payload]));
  }

  #take(chunk: Buffer, onText: (text: string) => void): void {
    this.#input = Buffer.concat([this.#input, chunk]);
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) {
      if (frame.opcode === CLOSE) this.close();
      else if (frame.opcode === PING) this.#frame(PONG, frame.payload);
      else if (frame.opcode <= TEXT) {
        this.#parts.push(frame.payload);
        if (!frame.isLast) continue;
        onText(Buffer.concat(this.#parts).toString("utf8"));
        this.#parts = [];
      }
    }
  }

  /** Undefined until all of it is there. Clients mask what they send. */
  #next(): { readonly opcode: number; readonly isLast: boolean; readonly payload: Buffer } | undefined {
    const input = this.#input;
    if (input.length < 2) return undefined;
    const short = (input[1] as number) & 0x7f;
    const start = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (input.length < start + 4) return undefined;
    const length =
      short < 126 ? short : short === 126 ? input.readUInt16BE(2) : Number(input.readBigUInt64BE(2));
    const end = start + 4 + length;
    if (input.length < end) return undefined;
    const mask = input.subarray(start, start + 4);
    const payload = Buffer.from(input.subarray(start + 4, end));
    for (let index = 0; index < payload.length; index++)
      payload[index] = (payload[index] as number) ^ (mask[index % 4] as number);
    this.#input = input.subarray(end);
    const first = input[0] as number;
    return { opcode: first & 0x0f, isLast: (first & 0x80) !== 0, payload };
  }
}
