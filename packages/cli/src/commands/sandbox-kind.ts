/** Where commands of a run are run: what --sandbox can say. */
import { usageError } from "../command-error.ts";
import type { Settings } from "../settings/schema.ts";
import { safeLine } from "../terminal/safe-text.ts";

/** Sandboxes with files of their own: the directory is not in them. */
const CLOUDS = ["modal", "runloop", "daytona", "langsmith", "agentcore", "e2b"] as const;
const KINDS = ["os", "docker", ...CLOUDS, "none", "off"] as const;

export type CloudKind = (typeof CLOUDS)[number];
/** `none`: commands run without isolation; `off`: there are no commands. */
export type SandboxKind = (typeof KINDS)[number];

export interface SandboxOptions {
  readonly kind: SandboxKind;
  /** The person named it: where it cannot be had the run does not begin. */
  readonly isAskedFor: boolean;
  /** The image of `docker:IMAGE`; absent: the provider's default. */
  readonly image?: string | undefined;
  /** Hosts that commands may reach; empty: none. */
  readonly hosts: readonly string[];
}

export interface RawSandboxOptions {
  readonly sandbox?: string;
  readonly allowHost?: readonly string[];
}

export function sandboxOptions({ sandbox, allowHost = [] }: RawSandboxOptions): SandboxOptions {
  const [, image] = sandbox?.match(/^docker:(.+)$/s) ?? [];
  const kind = KINDS.find((known) => known === (image === undefined ? (sandbox ?? "os") : "docker"));
  if (kind === undefined)
    throw usageError(
      `--sandbox is '${safeLine(sandbox ?? "", 60)}', which is not a sandbox.`,
      `It can be ${KINDS.join(", ")}, or docker:IMAGE.`,
    );
  if (allowHost.length > 0 && kind !== "os")
    throw usageError(`--allow-host is for commands in the os sandbox; --sandbox is ${kind}.`);
  return { kind, image, isAskedFor: sandbox !== undefined, hosts: allowHost };
}

/** Settings count where the command line says nothing. In plan mode there are no commands. */
export function sandboxWithSettings(
  given: SandboxOptions,
  { sandbox = {}, mode }: Pick<Settings, "sandbox" | "mode">,
): SandboxOptions {
  if (mode === "plan") return { kind: "off", isAskedFor: false, hosts: [] };
  if (given.isAskedFor) return given;
  const set = sandboxOptions({ ...(sandbox.kind !== undefined && { sandbox: sandbox.kind }) });
  const hosts = given.hosts.length > 0 ? given.hosts : (sandbox.hosts ?? []);
  if (hosts.length > 0 && set.kind !== "os")
    throw usageError(
      `Hosts are for commands in the os sandbox; sandbox.kind in the settings is ${set.kind}.`,
    );
  return { ...set, isAskedFor: false, hosts };
}

export function isSandboxKind(value: unknown): value is SandboxKind {
  return (KINDS as readonly unknown[]).includes(value);
}

export function isCloud(kind: SandboxKind): kind is CloudKind {
  return (CLOUDS as readonly string[]).includes(kind);
}
