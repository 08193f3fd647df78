/** Reads and checks the options of createSandbox: null means absent, an unknown option is an error. */

import { ConfigurationError } from "deepwright";
import { checkNames } from "deepwright/check-options";
import { checkDurations } from "deepwright/duration";
import { checkedVariables } from "../checked-options.ts";
import type { SandboxProvider } from "../provider.ts";
import { networkOfNamed, PROVIDER_NAMES, type ProviderName } from "./named-providers.ts";

/** Owner of the sandbox: each thread has its own, or all threads of an assistant share one. */
export type SandboxScope = "thread" | "assistant";

/** Why a sandbox that was there before is not there any more. */
export interface ReplacedSandbox {
  /** Key of the sandbox, as providers know it. */
  readonly key: string;
  /** Id of the new sandbox. */
  readonly id: string;
}

/** null means absent. */
export interface CreateSandboxOptions {
  /** Provider of the sandboxes, or the name of one of ours with its default options. */
  readonly provider: SandboxProvider | ProviderName;
  /** Default `thread`. */
  readonly scope?: SandboxScope | null;
  /**
   * Name of the owner; give each application one. Sandboxes are found by scope, name and id of the thread alone:
   * two programs of one user, or of one account at a vendor, that have the same ids and no name share their sandboxes.
   * Also tells several sandboxes of one thread apart, and stands for the assistant where no server names one.
   */
  readonly name?: string | null;
  /** A shell script that is run once in every fresh sandbox before anything else is. */
  readonly setupScript?: string | null;
  /** The file of that script, read when a sandbox is opened. */
  readonly setupScriptPath?: string | null;
  /** Seconds the set-up may take; default 600. */
  readonly setupTimeout?: number | null;
  /** Seconds without use after which a sandbox is ended; default 3600, Infinity: only the provider ends it. */
  readonly ttl?: number | null;
  /** Variables every command sees. Nothing secret: the model can read them. */
  readonly env?: Readonly<Record<string, string>> | null;
  /**
   * Secret variables. Needs a provider without network, and an agent whose `interruptOn` asks about every tool. Their
   * values are masked in results of tools, which stops an accident, not an attack.
   */
  readonly secrets?: Readonly<Record<string, string>> | null;
  /** Called when a sandbox was gone and a new one took its place. If it throws, the call that needed the sandbox throws the same. */
  readonly onReplaced?: ((event: ReplacedSandbox) => void) | null;
}

export interface Settings {
  readonly provider: SandboxProvider | ProviderName;
  readonly scope: SandboxScope;
  readonly name: string | undefined;
  readonly setupScript: string | undefined;
  readonly setupScriptPath: string | undefined;
  /** Seconds. */
  readonly setupTimeout: number;
  /** Seconds, or Infinity. */
  readonly ttl: number;
  /** With the secrets. */
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly onReplaced: ((event: ReplacedSandbox) => void) | undefined;
}

const NAMES: readonly (keyof CreateSandboxOptions)[] = [
  ...(["provider", "scope", "name", "setupScript", "setupScriptPath", "setupTimeout"] as const),
  ...(["ttl", "env", "secrets", "onReplaced"] as const),
];

export function readOptions(given: CreateSandboxOptions): Settings {
  const options = present(given);
  const { setupScript, setupScriptPath } = options;
  checkKind("string", { name: options.name, setupScript, setupScriptPath });
  checkKind("function", { onReplaced: options.onReplaced });
  checkDurations({ unit: "seconds" }, { setupTimeout: options.setupTimeout });
  checkDurations({ unit: "seconds", unlimited: true }, { ttl: options.ttl });
  if (setupScript !== undefined && setupScriptPath !== undefined)
    throw invalid("The set-up is a 'setupScript' or a 'setupScriptPath', not both.");
  if (options.name?.trim() === "") throw invalid("The option 'name' must not be empty.");
  const scope = options.scope ?? "thread";
  if (scope !== "thread" && scope !== "assistant")
    throw invalid(`The option 'scope' must be 'thread' or 'assistant', not '${String(scope)}'.`);
  const provider = checkProvider(options.provider);
  const secrets = variables("secrets", options.secrets);
  const env = variables("env", options.env);
  checkSecrets(provider, secrets, env);
  return {
    provider,
    scope,
    name: options.name,
    setupScript,
    setupScriptPath,
    setupTimeout: options.setupTimeout ?? 600,
    ttl: options.ttl ?? 3600,
    env: { ...env, ...secrets },
    secrets,
    onReplaced: options.onReplaced,
  };
}

type Present = { readonly [Name in keyof CreateSandboxOptions]?: NonNullable<CreateSandboxOptions[Name]> };

function present(given: CreateSandboxOptions): Present {
  const hint = `Its options are: ${NAMES.join(", ")}.`;
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new ConfigurationError("INVALID_OPTION", "createSandbox takes one object of options.", { hint });
  const entries = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  checkNames("createSandbox", given, NAMES);
  return Object.fromEntries(entries) as Present;
}

function checkProvider(provider: unknown): SandboxProvider | ProviderName {
  if (typeof provider === "string" && (PROVIDER_NAMES as readonly string[]).includes(provider))
    return provider as ProviderName;
  const { open, name, network } = (provider ?? {}) as Partial<SandboxProvider>;
  if (typeof open === "function" && typeof name === "string" && typeof network === "string")
    return provider as SandboxProvider;
  const what =
    typeof provider === "string"
      ? `There is no provider '${provider}'.`
      : "The option 'provider' is missing.";
  throw new ConfigurationError(
    "INVALID_OPTION",
    typeof provider === "object" && provider !== null
      ? "The option 'provider' is not a provider of sandboxes."
      : what,
    {
      hint: `Make one, such as osSandbox() of '@deepwright/sandboxes/os', or name one: ${PROVIDER_NAMES.join(", ")}.`,
    },
  );
}

function variables(option: string, given: unknown): Readonly<Record<string, string>> {
  if (given === undefined) return {};
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalid(`The option '${option}' must be an object of texts.`);
  return { ...checkedVariables(given as Readonly<Record<string, string>>, option) };
}

/** Every command can read its environment, and send it wherever a network leads. */
function checkSecrets(
  provider: SandboxProvider | ProviderName,
  secrets: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): void {
  const names = Object.keys(secrets);
  const twice = names.find((name) => Object.hasOwn(env, name));
  if (twice !== undefined) throw invalid(`The variable '${twice}' is in 'env' and in 'secrets'.`);
  if (names.length === 0) return;
  const network = typeof provider === "string" ? networkOfNamed(provider) : provider.network;
  if (network === "none") return;
  throw new ConfigurationError("INVALID_OPTION", "Secrets in a sandbox need one without network.", {
    hint:
      "Turn its network off, or keep the secret outside: a tool of the host that holds it, or a header that the " +
      "proxy of the sandbox adds.",
  });
}

function checkKind(kind: "string" | "function", values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && typeof value !== kind)
      throw invalid(`The option '${name}' must be ${kind === "string" ? "text" : "a function"}.`);
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", message);
}
