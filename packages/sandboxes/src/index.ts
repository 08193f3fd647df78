/** The public names of `@deepwright/sandboxes`: leases. The providers are at subpaths of their own. */
export { createSandbox, type Lease, type SandboxSource } from "./lease/create-sandbox.ts";
export type { ProviderName } from "./lease/named-providers.ts";
export type { CreateSandboxOptions, ReplacedSandbox, SandboxScope } from "./lease/options.ts";
export {
  LEASE_LABEL,
  type NetworkReach,
  type OpenedSandbox,
  type OpenRequest,
  type Sandbox,
  type SandboxProvider,
} from "./provider.ts";
