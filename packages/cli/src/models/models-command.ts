/** `deepwright models`: lists the models that a run could use. Returns the exit code. */
import { MODEL_PROVIDERS } from "deepwright/providers";
import { KEYED_PROVIDERS, shownProvider } from "../default-models.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { loadStoredKeys } from "../login/stored-keys.ts";
import { choiceLine } from "../model/choice.ts";
import { chooseModel } from "../model/choose.ts";
import { endpoints } from "../model/endpoints.ts";
import { realDirectory } from "../run/directory.ts";
import { loadSettings } from "../settings/load-settings.ts";
import { settingsWish } from "../settings/model-wish.ts";
import { homeOf } from "../state/home.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { tableLines } from "../terminal/table.ts";
import { type LocalServer, localServers } from "./local-servers.ts";
import type { RawModelsOptions } from "./models-command-line.ts";

/** A provider that a key is there for. */
export interface KeyedProvider {
  readonly provider: string;
  /** Absent: the provider has no default here. */
  readonly model: string | undefined;
  readonly key: string;
}

export async function modelsCommand({ json }: RawModelsOptions): Promise<ExitCode> {
  const console = new Console(process.stdout, process.stderr, process.env);
  await loadStoredKeys(process.env);
  const servers = await localServers(process.env);
  const keyed = keyedProviders(process.env);
  if (json) {
    console.json(JSON.stringify({ servers, providers: keyed }));
    return EXIT.done;
  }
  for (const line of listLines(servers, keyed)) console.result(line);
  const silent = servers
    .filter(({ models }) => models === undefined)
    .map(({ title, url }) => `${title} (${url})`);
  if (silent.length > 0)
    console.line(console.colours.dim(`No answer from ${safeLine(silent.join(", "), 300)}.`));
  console.line(await usedLine());
  return EXIT.done;
}

export function keyedProviders(environment: NodeJS.ProcessEnv): readonly KeyedProvider[] {
  return MODEL_PROVIDERS.flatMap(({ name, keys }) => {
    const key = keys.find((variable) => environment[variable]);
    if (key === undefined) return [];
    const provider = shownProvider(name);
    return [{ provider, model: KEYED_PROVIDERS.find((one) => one.provider === provider)?.model, key }];
  });
}

function listLines(servers: readonly LocalServer[], keyed: readonly KeyedProvider[]): readonly string[] {
  const rows = [
    ...servers.flatMap(({ provider, title, url, models = [] }) =>
      models.map((model) => [safeLine(`${provider}:${model}`, 120), safeLine(`${title} at ${url}`, 120)]),
    ),
    ...keyed.map(({ provider, model, key }) => [
      `${provider}:${model ?? "MODEL"}`,
      `${key} is set${model === undefined ? "; name one of its models" : "; its default"}`,
    ]),
  ];
  return rows.length === 0 ? [] : tableLines([{ heading: "model" }, { heading: "from" }], rows);
}

async function usedLine(): Promise<string> {
  const directory = await realDirectory(".");
  const loaded = await loadSettings({ directory, home: homeOf(process.env), env: process.env });
  const choice = await chooseModel({ settings: settingsWish(loaded) }, process.env, endpoints);
  return safeLine(`A run here: ${choiceLine(choice)}`, 400);
}
