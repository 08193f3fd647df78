/** Asks a server for a one-time code. */
import { type ClientRequest, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";

export type Reply =
  | { readonly kind: "code"; readonly code: string; readonly expiresAt: string }
  | { readonly kind: "refused"; readonly status: number; readonly why: string }
  | { readonly kind: "absent"; readonly why: string };

const PATIENCE_MS = 5_000;
const MOST_BYTES = 64 * 1024;

/** `ca`: trusted instead of the authorities that this machine knows. */
export function askForCode(
  url: string,
  { token, ca }: { readonly token: string; readonly ca: string | undefined },
): Promise<Reply> {
  return new Promise((done) => {
    const options = {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      timeout: PATIENCE_MS,
      agent: false,
    } as const;
    const target = new URL("/sign-in/codes", url);
    const sent: ClientRequest =
      target.protocol === "https:"
        ? requestSecure(target, { ...options, ...(ca !== undefined && { ca }) })
        : requestPlain(target, options);
    sent.on("error", (error) => done({ kind: "absent", why: error.message }));
    sent.on("timeout", () => sent.destroy(new Error("it takes too long")));
    sent.on("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece: string) => {
        text += piece;
        if (text.length > MOST_BYTES) sent.destroy(new Error("the answer is too long"));
      });
      answer.on("end", () => done(replyOf(answer.statusCode ?? 0, text)));
    });
    sent.end("{}");
  });
}

function replyOf(status: number, text: string): Reply {
  const body = parsed(text);
  if (status === 200 && typeof body.code === "string" && /^[\w-]{16,128}$/.test(body.code))
    return { kind: "code", code: body.code, expiresAt: String(body.expires_at) };
  return {
    kind: "refused",
    status,
    why: typeof body.message === "string" ? body.message : `status ${status}`,
  };
}

function parsed(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
