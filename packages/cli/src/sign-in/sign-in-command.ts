/** `deepwright sign-in`: prints a link with a one-time code that signs a browser in to a server. Returns the exit code. */
import { createClient, type ProtocolError } from "@deepwright/protocol";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { isOfAnotherUser, keptToken } from "./kept-token.ts";
import { type RawSignInOptions, USUAL_URL } from "./sign-in-command-line.ts";

export async function signInCommand({ url = USUAL_URL }: RawSignInOptions): Promise<ExitCode> {
  const console = new Console(process.stdout, process.stderr, process.env);
  const address = URL.parse(url);
  if (!address || !/^https?:$/.test(address.protocol))
    throw usageError(`--url is '${safeLine(url, 200)}', which is no address.`, "Give http://host:port.");
  const client = createClient({ baseUrl: address.href, token: await tokenFor(address.href) });
  const { code } = await client.signIn.createCode().catch((error: ProtocolError) => {
    throw new CommandError(safeLine(error.message, 300), {
      ...(error.status === 0 && { hint: START }),
      ...(error.status === 401 && { hint: "Set DEEPWRIGHT_SERVER_TOKEN to the token of this server." }),
      cause: error,
    });
  });
  console.result(`${address.href.replace(/\/+$/, "")}/#code=${code}`);
  return EXIT.done;
}

async function tokenFor(url: string): Promise<string> {
  const { DEEPWRIGHT_SERVER_TOKEN: token } = process.env;
  if (token) return token;
  const kept = await keptToken(process.env);
  if (kept === undefined) throw new CommandError("There is no token of a server here.", { hint: START });
  if (await isOfAnotherUser(url))
    throw new CommandError(`${OF_ANOTHER} at ${safeLine(url, 200)}.`, { hint: START });
  return kept;
}

const START = "Start it with: deepwright serve";
const OF_ANOTHER = "The token was not sent: a program of another user listens";
