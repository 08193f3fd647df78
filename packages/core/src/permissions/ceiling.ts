/** Permissions that no run inside an agent's runs may exceed, even if its own permissions allow more. */
import type { Ceiling } from "../backends/run-tree.ts";
import { ConfigurationError } from "../errors.ts";
import { GuardedBackend } from "./guard.ts";
import { checkPermissions, type PermissionList, type Rules } from "./rules.ts";

/**
 * Undefined without rules. Commands would go around them: a backend under a ceiling has no `execute`, unless it
 * enforces permissions itself. No person can be asked there, so rules of mode `interrupt` are refused.
 */
export function ceilingOf(permissions: PermissionList | Rules | null | undefined): Ceiling | undefined {
  const rules = checkPermissions(permissions, "permissionCeiling");
  const asking = rules.find(({ mode }) => mode === "interrupt");
  if (asking !== undefined)
    throw new ConfigurationError(
      "INVALID_PERMISSION",
      `permissionCeiling[${asking.index}] has the mode 'interrupt': a ceiling allows or denies.`,
      { hint: "Use mode 'deny', or put the rule into the permissions of the agents themselves." },
    );
  if (rules.length === 0) return undefined;
  return (backend, runtime) => new GuardedBackend(backend, rules, runtime);
}
