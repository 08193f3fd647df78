/** `deepwright mcp serve`: agents as tools on stdin and stdout. Messages for people go to stderr. */
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { startFailure, whatToServe, withPlaces } from "../serve/serve-command.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { RawMcpOptions } from "./mcp-command-line.ts";

/** The owner of everything on a server with one token. */
const LOCAL = "local";

export async function mcpServeCommand(file: string | undefined, raw: RawMcpOptions): Promise<ExitCode> {
  const console = new Console(process.stderr, process.stderr, process.env);
  process.stderr.on("error", () => {});
  const { db, model, baseUrl } = raw;
  const wish = { ...(model !== undefined && { model }), ...(baseUrl !== undefined && { baseUrl }) };
  const served = await whatToServe(file, wish, console);
  const options = withPlaces(
    { ...served.options, ...(db !== undefined && { database: db }) },
    served.directory,
  );
  const [{ createApp }, { serveMcpStdio }] = await Promise.all([
    import("@deepwright/server"),
    import("@deepwright/server/mcp"),
  ]);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  try {
    const app = await createApp(options).catch((error: unknown) => {
      throw startFailure(error, options);
    });
    try {
      console.line(`Agents: ${safeLine(app.agents.names.join(", "), 500)}`);
      const { agents, runs } = app;
      await serveMcpStdio({ names: () => agents.names, runs, owner: LOCAL, signal: stop.signal });
    } finally {
      await app.close();
    }
  } finally {
    await served.close();
  }
  return EXIT.done;
}
