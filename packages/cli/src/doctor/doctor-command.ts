/** `deepwright doctor` and `update`. Returns the exit code. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withoutSecrets } from "deepwright/secrets";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { loadStoredKeys } from "../login/stored-keys.ts";
import { realDirectory } from "../run/directory.ts";
import { type LoadedSettings, loadSettings } from "../settings/load-settings.ts";
import { homeOf } from "../state/home.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { type Check, problem } from "./check.ts";
import type { RawDoctorOptions } from "./doctor-command-line.ts";
import { installationOf } from "./installed.ts";
import { databaseCheck, diskCheck, nodeCheck, sandboxCheck, terminalCheck } from "./machine-checks.ts";
import { keysCheck, localCheck, mcpCheck, modelCheck, settingsCheck } from "./model-checks.ts";

export async function doctorCommand(
  action: "doctor" | "update",
  options: RawDoctorOptions,
): Promise<ExitCode> {
  const console = new Console(process.stdout, process.stderr, process.env);
  return action === "update" ? update(options, console) : doctor(options, console);
}

async function doctor({ json, in: given = "." }: RawDoctorOptions, console: Console): Promise<ExitCode> {
  const directory = await realDirectory(given);
  const checks = await allChecks(directory);
  const hasProblem = checks.some(({ state }) => state === "problem");
  if (json) console.json(JSON.stringify({ checks }));
  else for (const line of checks.flatMap((check) => checkLines(check, console))) console.result(line);
  return hasProblem ? EXIT.failed : EXIT.done;
}

async function allChecks(directory: string): Promise<readonly Check[]> {
  const { env } = process;
  const keysLoaded = await guarded("Keys", async () => {
    await loadStoredKeys(env);
    return keysCheck(env);
  });
  let loaded: LoadedSettings = { settings: {}, origins: new Map(), files: [], held: undefined };
  const settings = await guarded("Settings", async () => {
    loaded = await loadSettings({ directory, home: homeOf(env), env });
    return settingsCheck(loaded);
  });
  const others = await Promise.all([
    guarded("Model", () => modelCheck(loaded, env)),
    guarded("Local servers", () => localCheck(env)),
    guarded("Sandbox", () => sandboxCheck(directory)),
    guarded("Database", () => databaseCheck(env)),
    guarded("Disk", () => diskCheck(env)),
    guarded("MCP servers", () => mcpCheck(directory, loaded.settings.mcpServers)),
  ]);
  return [nodeCheck(), terminalCheck(process, env), settings, keysLoaded, ...others];
}

/** A check that throws is a problem itself: the other checks still run. */
async function guarded(name: string, check: () => Promise<Check>): Promise<Check> {
  try {
    return await check();
  } catch (error) {
    const { message, hint } = error as Error & { readonly hint?: string };
    return problem(name, message, hint ?? "Correct what is named here.");
  }
}

function checkLines({ name, state, words, remedy }: Check, console: Console): readonly string[] {
  const { green, yellow, red, dim } = console.resultColours;
  const mark = { ok: green("✔"), note: yellow("!"), problem: red("✘") }[state];
  const safe = (text: string): string => safeLine(withoutSecrets(text, process.env), 500);
  const line = `${mark} ${name}: ${safe(words)}`;
  return remedy === undefined ? [line] : [line, dim(`    → ${safe(remedy)}`)];
}

function update({ json }: RawDoctorOptions, console: Console): ExitCode {
  const path = realpathSync(fileURLToPath(import.meta.url));
  const { way, command } = installationOf(path, isCheckout(path));
  const { version } = JSON.parse(readFileSync(join(packageOf(path), "package.json"), "utf8"));
  if (json) console.json(JSON.stringify({ version, way, command }));
  else {
    console.result(`deepwright ${safeLine(version)}, installed by ${safeLine(way)}`);
    console.result(`To update: ${command}`);
  }
  return EXIT.done;
}

/** The directory of our package.json, above `src` or `dist`. */
function packageOf(path: string): string {
  let directory = dirname(path);
  while (!existsSync(join(directory, "package.json")) && dirname(directory) !== directory)
    directory = dirname(directory);
  return directory;
}

function isCheckout(path: string): boolean {
  if (path.includes("/node_modules/")) return false;
  for (let at = dirname(path); at !== dirname(at); at = dirname(at))
    if (existsSync(join(at, ".git"))) return true;
  return false;
}
