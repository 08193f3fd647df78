/** Sandboxes on this machine: bubblewrap on Linux, Seatbelt on macOS. */
import { SandboxError } from "deepwright";
import { type OsSandboxOptions, osSettings } from "./os/os-options.ts";
import { ALTERNATIVES, commandNote } from "./os/policy.ts";
import type { OpenedSandbox, OpenRequest, SandboxProvider } from "./provider.ts";

export type { EgressEvent, EgressOptions, InjectedHeader } from "./egress/egress-options.ts";
export type { OsLimits, OsSandboxOptions } from "./os/os-options.ts";

/** Touches no file and starts nothing: missing programs are reported when it is opened. */
export function osSandbox(options: OsSandboxOptions = {}): SandboxProvider {
  const settings = osSettings(options);
  const home = async () => {
    const [{ stateDirectory }, leases, { endLease }] = await Promise.all([
      import("./os/lease/state-directory.ts"),
      import("./os/lease/lease-directory.ts"),
      import("./os/lease/end-lease.ts"),
    ]);
    return { state: stateDirectory(settings.stateDir), leases, endLease };
  };
  const open = async (request: OpenRequest, id?: string): Promise<OpenedSandbox | undefined> => {
    request.signal?.throwIfAborted();
    refuseElsewhere();
    const { state, leases, endLease } = await home();
    for (const expired of leases.expiredLeases(state)) await endLease(state, expired);
    const existing = id === undefined ? undefined : leases.findLease(state, id);
    if (id !== undefined && existing === undefined) return undefined;
    const { openOsSandbox } = await import("./os/open-os-sandbox.ts");
    return openOsSandbox(settings, state, request, existing);
  };
  return {
    name: "os",
    network: settings.egress === undefined ? "none" : "allow-list",
    workingDirectory: settings.files?.workingDirectory ?? (settings.files ? "/" : settings.workingDirectory),
    commandNote: commandNote(settings),
    closesPaths: true,
    lendsFiles: settings.rootDir !== undefined,
    open: async (request) => (await open(request)) as OpenedSandbox,
    reattach: (id, request) => open(request, id),
    destroy: async (id) => {
      const { state, endLease } = await home();
      await endLease(state, id);
    },
    find: async (key) => {
      const { state, leases } = await home();
      return leases.leasesWithKey(state, key);
    },
  };
}

function refuseElsewhere(): void {
  if (process.platform === "linux" || process.platform === "darwin") return;
  throw new SandboxError(
    `The os sandbox needs Linux or macOS, and this is ${process.platform}. Use ${ALTERNATIVES}.`,
    "SANDBOX_UNAVAILABLE",
  );
}
