/** Turns the option `permissions` of an agent or subagent into the objects that enforce it. */
import type { BackendSource } from "../backends/resolve.ts";
import { type PermissionGate, permissionGate } from "./gate.ts";
import { checkPermissions, type Rules } from "./rules.ts";
import { warnAbout } from "./warnings.ts";

/** Checked rules. Rules that are probably a mistake are warned about on the console, once. */
export function permissionsOption({ permissions }: { readonly permissions?: unknown }): Rules {
  const rules = checkPermissions(permissions);
  warnAbout(rules);
  return rules;
}

/** Gates that ask a person if a rule demands it. `backend` is the agent's option. */
export function gatesFor(backend: unknown, rules: Rules): readonly PermissionGate[] {
  const gate = permissionGate((backend ?? undefined) as BackendSource | undefined, rules);
  return gate === undefined ? [] : [gate];
}
