/** `deepwright` without a command: opens the app. Returns the exit code. */
import type { ApprovalMode } from "@deepwright/server";
import { usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { realDirectory } from "../run/directory.ts";
import type { AskTrust } from "../run/run-settings.ts";
import { wantsColours } from "../terminal/console.ts";
import { cloneNotice, comeBackWords } from "../terminal/program-words.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { App } from "./app.ts";
import type { RawAppOptions } from "./app-command-line.ts";
import type { Place } from "./session/place.ts";
import { threadFor } from "./session/thread-choice.ts";
import type { Looks } from "./view/looks.ts";
import { type ThemeName, themeFromEnvironment } from "./view/theme.ts";

export async function appCommand(raw: RawAppOptions): Promise<ExitCode> {
  const { stdin, stdout, env } = process;
  if (!stdin.isTTY || !stdout.isTTY)
    throw usageError(
      "The app needs a terminal, and there is none here.",
      'For a task without one: deepwright run "task".',
    );
  const directory = await realDirectory(raw.in ?? ".");
  const asking: { askTrust?: AskTrust } = {};
  const openPlace = (model = raw.model): Promise<Place> => placeFor({ ...raw, model }, directory, asking);
  if (raw.plain || env.TERM === "dumb") {
    const { askTrustInLines, runPlain } = await import("./plain/plain-session.ts");
    asking.askTrust = askTrustInLines;
    return runPlain({ raw, directory, mode: modeOf(raw), openPlace, stdin, stdout, environment: env });
  }
  const { App } = await import("./app.ts");
  const theme = raw.theme as ThemeName | undefined;
  const app = new App({
    directory,
    mode: modeOf(raw),
    initialTheme: theme ?? themeFromEnvironment(env) ?? "dark",
    hasColour: wantsColours(stdout, env),
    environment: env,
    stdin,
    stdout,
    reflows: !env.XTERM_VERSION,
    openPlace,
    loadCommands: async () => (await import("./commands/all-commands.ts")).allCommands,
  });
  asking.askTrust = (lines) => app.askTrust(lines);
  if (theme) app.look({ theme });
  const running = app.run();
  const failure = await started(app, raw, directory, openPlace);
  await Promise.race([running, failure ? Promise.resolve(app.leave()) : running]);
  await running;
  await closed(app);
  if (failure) throw failure;
  sayHowToComeBack(app, raw.connect);
  return EXIT.done;
}

/** The error that kept the app from starting, if any. */
async function started(
  app: App,
  raw: RawAppOptions,
  directory: string,
  openPlace: () => Promise<Place>,
): Promise<Error | undefined> {
  try {
    // The first frame is on its way before the library is loaded.
    await new Promise((resolve) => setImmediate(resolve));
    app.look(await looksOf(raw, directory));
    const place = await openPlace();
    const notices = [...place.notices, ...cloneNotice(process.env)];
    await app.start({ ...place, notices }, await threadFor(place, raw, directory));
    if (raw.resume === true) app.chooseThread();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** The settings of this machine count, also for a server elsewhere. */
async function looksOf({ theme }: RawAppOptions, directory: string): Promise<Looks> {
  const [{ loadSettings }, { homeOf }] = await Promise.all([
    import("../settings/load-settings.ts"),
    import("../state/home.ts"),
  ]);
  const flags = theme === undefined ? {} : { theme: theme as ThemeName };
  return (await loadSettings({ directory, home: homeOf(process.env), env: process.env, flags })).settings;
}

function modeOf({ mode }: RawAppOptions): ApprovalMode | undefined {
  return mode as ApprovalMode | undefined;
}

async function placeFor(
  raw: RawAppOptions,
  directory: string,
  { askTrust }: { readonly askTrust?: AskTrust },
): Promise<Place> {
  if (raw.connect !== undefined) {
    const { openRemote } = await import("./session/remote-place.ts");
    return openRemote(raw.connect, process.env, raw.agent);
  }
  const { openLocal } = await import("./session/local-place.ts");
  const { model, baseUrl, db, mcp } = raw;
  return openLocal(
    { directory, model, baseUrl, db, mode: modeOf(raw), askTrust, ...(mcp === undefined ? {} : { mcp }) },
    process.env,
  );
}

async function closed(app: App): Promise<void> {
  await app.session?.interrupt();
  await app.session?.place.close();
}

function sayHowToComeBack({ session }: App, url: string | undefined): void {
  if (session && !session.isEmpty)
    process.stdout.write(`Come back with: ${safeLine(comeBackWords(session.threadId, url, process.env))}\n`);
}
