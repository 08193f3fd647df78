/** `deepwright pair`. Returns the exit code. */
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { isOfAnotherUser, keptToken } from "../sign-in/kept-token.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { askForCode, type Reply } from "./ask-for-code.ts";
import type { RawPairOptions } from "./pair-command-line.ts";

export async function pairCommand(raw: RawPairOptions): Promise<ExitCode> {
  const console = new Console(process.stdout, process.stderr, process.env);
  const { token, isKept } = await serverToken();
  const ca = raw.cert === undefined ? undefined : await certificate(raw.cert);
  const places = raw.url === undefined ? addressesOf(portOf(raw.port), ca !== undefined) : [urlOf(raw.url)];
  const { url, code, expiresAt } = await codeFrom(places, { token, isKept, ca });
  const link = `${url}/#code=${code}`;
  if (raw.json) {
    console.json(JSON.stringify({ link, expires_at: expiresAt }));
    return EXIT.done;
  }
  const { renderUnicodeCompact } = await import("uqr");
  console.result(renderUnicodeCompact(link, { border: 2 }));
  console.result(link);
  console.line("The link works once, for five minutes.");
  if (!isPrivate(url))
    console.line(
      console.colours.yellow(
        "Warning: without TLS everybody on this network can read what is sent, and sign in with it. Start the server with --cert and --key.",
      ),
    );
  return EXIT.done;
}

/** Nobody on a network reads along. */
function isPrivate(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || /^(?:localhost|127\.|\[::1\])/.test(hostname);
}

async function serverToken(): Promise<{ readonly token: string; readonly isKept: boolean }> {
  const given = process.env.DEEPWRIGHT_SERVER_TOKEN;
  if (given) return { token: given, isKept: false };
  const kept = await keptToken(process.env);
  if (kept !== undefined) return { token: kept, isKept: true };
  throw usageError(
    "There is no token of a server here.",
    "Start one first: deepwright serve. Or set DEEPWRIGHT_SERVER_TOKEN.",
  );
}

async function certificate(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((cause) => {
    throw new CommandError(`The certificate ${safeLine(path)} cannot be read.`, { cause });
  });
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw usageError(`${safeLine(path)} is not a certificate in PEM.`);
}

function portOf(text = "2024"): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port > 0 && port <= 65_535) return port;
  throw usageError(`--port is '${safeLine(text, 60)}', which is not a port.`);
}

function urlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.pathname === "/" && !url.search && !url.username)
    return url.origin;
  throw usageError(`--url is '${safeLine(text, 100)}'.`, "Give an address such as https://192.168.1.5:2024.");
}

/** The addresses that other devices may reach this machine at, then its own. */
function addressesOf(port: number, isSecure: boolean): string[] {
  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family }) => !internal && family === "IPv4");
  const hosts = [...outside.map(({ address }) => address), "127.0.0.1"];
  return hosts.map((host) => `${isSecure ? "https" : "http"}://${host}:${port}`);
}

const FOREIGN: Reply = { kind: "absent", why: "a program of another user listens there" };

interface Made {
  readonly url: string;
  readonly code: string;
  readonly expiresAt: string;
}

async function codeFrom(
  places: readonly string[],
  key: { readonly token: string; readonly isKept: boolean; readonly ca: string | undefined },
): Promise<Made> {
  const replies: (readonly [string, Reply])[] = [];
  for (const url of places) {
    const isForeign = key.isKept && (await isOfAnotherUser(url));
    const reply: Reply = isForeign ? FOREIGN : await askForCode(url, key);
    if (reply.kind === "code") {
      if (places.length > 1 && url === places.at(-1)) throw onlyHere();
      return { url, code: reply.code, expiresAt: reply.expiresAt };
    }
    replies.push([url, reply]);
  }
  const [url, reply] = replies.find(([, { kind }]) => kind === "refused") ?? replies[0] ?? ["", undefined];
  throw failure(url, reply);
}

function onlyHere(): CommandError {
  return usageError(
    "The server listens on this machine only: no other device can reach it.",
    "Start it with --host and an address of this machine. For a browser here: deepwright pair --url http://127.0.0.1:2024",
  );
}

function failure(url: string, reply: Reply | undefined): CommandError {
  if (reply?.kind !== "refused")
    return new CommandError(
      `No server answers at ${safeLine(url)}${reply?.kind === "absent" ? `: ${safeLine(reply.why)}` : ""}.`,
      {
        hint: "Start it with deepwright serve, and name its address with --url or its port with --port.",
      },
    );
  if (reply.status === 401) return usageError("The server at this address has another token.");
  if (reply.status === 403)
    return usageError(
      `The server does not answer to the name in ${safeLine(url)}.`,
      "Start it with --allow-host-name and this name.",
    );
  return new CommandError(`The server at ${safeLine(url)} refused: ${safeLine(reply.why, 300)}`);
}
