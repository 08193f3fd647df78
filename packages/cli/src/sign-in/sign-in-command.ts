/** `deepwright sign-in`: prints a link with a one-time code that signs a browser in to a server. Returns the exit code. */
import { join } from "node:path";
import { createClient, type ProtocolError } from "@deepwright/protocol";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { homeOf } from "../state/home.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { RawSignInOptions } from "./sign-in-command-line.ts";

const USUAL_URL = "http://127.0.0.1:2024";

export async function signInCommand({ url = USUAL_URL }: RawSignInOptions): Promise<ExitCode> {
  const console = new Console(process.stdout, process.stderr, process.env);
  const address = URL.parse(url);
  if (!address || !/^https?:$/.test(address.protocol))
    throw usageError(`--url is '${safeLine(url, 200)}', which is no address.`, "Give http://host:port.");
  const client = createClient({ baseUrl: address.href, token: await tokenOfServer() });
  const { code } = await client.signIn.createCode().catch((error: ProtocolError) => {
    throw new CommandError(safeLine(error.message, 300), {
      ...(error.status === 0 && { hint: "Start it with: deepwright serve" }),
      ...(error.status === 401 && { hint: "Set DEEPWRIGHT_SERVER_TOKEN to the token of this server." }),
      cause: error,
    });
  });
  console.result(`${address.href.replace(/\/+$/, "")}/#code=${code}`);
  return EXIT.done;
}

async function tokenOfServer(): Promise<string> {
  const { DEEPWRIGHT_SERVER_TOKEN: token } = process.env;
  if (token) return token;
  const { openTokenFile } = await import("@deepwright/server");
  return (await openTokenFile(join(homeOf(process.env), "server-token"))).token;
}
