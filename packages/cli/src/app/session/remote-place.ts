/** A server elsewhere that speaks the same protocol. */
import { createClient } from "@deepwright/protocol";
import { CommandError, usageError } from "../../command-error.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import type { Place } from "./place.ts";

/** Throws where the server does not answer or has no agent. The token is DEEPWRIGHT_SERVER_TOKEN. */
export async function openRemote(url: string, environment: NodeJS.ProcessEnv): Promise<Place> {
  const address = URL.parse(url);
  if (!address || !/^https?:$/.test(address.protocol))
    throw usageError(`--connect is '${safeLine(url, 200)}', which is no address.`, "Give http://host:port.");
  const token = environment.DEEPWRIGHT_SERVER_TOKEN;
  const client = createClient({ baseUrl: url, ...(token && { token }) });
  const assistants = await client.assistants.search({ limit: 10 }).catch((cause: unknown) => {
    const { code, message = String(cause) } = cause as { code?: string; message?: string };
    throw new CommandError(safeLine(message, 300), {
      ...(code === "UNAUTHENTICATED" && { hint: "Set DEEPWRIGHT_SERVER_TOKEN to the token of the server." }),
      cause,
    });
  });
  const [first] = assistants;
  if (!first) throw new CommandError(`The server at ${safeLine(url, 200)} has no agents.`);
  return {
    client,
    assistant: first.assistant_id,
    model: first.graph_id,
    isOffline: false,
    sandbox: address.host,
    notices: [`Connected to ${address.host}. The agent works there, with the files of the server.`],
    close: async () => {},
  };
}
