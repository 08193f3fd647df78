/** The providers of this package by name, each loaded when a sandbox of it is needed. */
import { SandboxError } from "deepwright";
import type { NetworkReach, SandboxProvider } from "../provider.ts";

export type ProviderName =
  | "os"
  | "docker"
  | "modal"
  | "runloop"
  | "daytona"
  | "langsmith"
  | "agentcore"
  | "e2b";

interface NamedProvider {
  /** With default options, known before it is loaded. */
  readonly network: NetworkReach;
  load(): Promise<object>;
  readonly maker: string;
}

const NAMED: Readonly<Record<ProviderName, NamedProvider>> = {
  os: { network: "none", maker: "osSandbox", load: () => import("../os.ts") },
  docker: { network: "none", maker: "dockerSandbox", load: () => import("../docker.ts") },
  modal: { network: "none", maker: "modalSandbox", load: () => import("../modal.ts") },
  runloop: { network: "open", maker: "runloopSandbox", load: () => import("../runloop.ts") },
  daytona: { network: "none", maker: "daytonaSandbox", load: () => import("../daytona.ts") },
  langsmith: { network: "open", maker: "langsmithSandbox", load: () => import("../langsmith.ts") },
  agentcore: { network: "open", maker: "agentcoreSandbox", load: () => import("../agentcore.ts") },
  e2b: { network: "none", maker: "e2bSandbox", load: () => import("../e2b.ts") },
};

export const PROVIDER_NAMES = Object.keys(NAMED) as readonly ProviderName[];

export function networkOfNamed(name: ProviderName): NetworkReach {
  return NAMED[name].network;
}

/** With default options. */
export async function providerNamed(name: ProviderName): Promise<SandboxProvider> {
  const { load, maker } = NAMED[name];
  const make = ((await load()) as Record<string, (() => SandboxProvider) | undefined>)[maker];
  if (make === undefined)
    throw new SandboxError(`The provider '${name}' is not there.`, "SANDBOX_UNAVAILABLE");
  return make();
}
