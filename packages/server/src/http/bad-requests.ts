/** Answers input that is no request: broken lines, headers beyond Node's limit, a request that never ends. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Time for the client to read why, while what it goes on sending is thrown away. */
const LINGER_MS = 1_000;

const WORDS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "The address and the headers are too long.",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "The extensions of a chunk are too long.",
};

/** Answers in the words of every other error. Node would cut the connection at once, often before it is read. */
export function answerBadRequests(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const { _httpMessage: begun } = socket as { _httpMessage?: { readonly headersSent: boolean } };
    if (!socket.writable || begun?.headersSent || error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    const body = JSON.stringify({
      code: "INVALID_REQUEST",
      message: isLate ? "The request took too long." : (WORDS[error.code ?? ""] ?? "This is no request."),
    });
    const status = isLate ? "408 Request Timeout" : "400 Bad Request";
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
    );
    socket.removeAllListeners("data");
    socket.resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
}
