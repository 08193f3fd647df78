/** Network that commands at a vendor can reach, where the vendor enforces it. */
import { ConfigurationError } from "deepwright";
import { parseAllowList } from "../egress/allow-list.ts";
import type { NetworkReach } from "../provider.ts";

/** `allow`: names (`pypi.org`) and all names below one (`*.pypi.org`), without ports. */
export type VendorNetwork = "none" | "open" | { readonly allow: readonly string[] };

/** Throws a `ConfigurationError` for a network that it does not understand. */
export function checkNetwork(network: VendorNetwork): VendorNetwork {
  if (network === "none" || network === "open") return network;
  if (typeof network !== "object" || network === null)
    throw invalid(`'${String(network)}' is neither "none" nor "open" nor a list of hosts.`);
  const unknown = Object.keys(network).find((name) => name !== "allow");
  if (unknown !== undefined) throw invalid(`it has no '${unknown}', only a list \`allow\`.`);
  if (!Array.isArray(network.allow)) throw invalid("`allow` is not a list of hosts.");
  parseAllowList(network.allow);
  const withPort = network.allow.find((entry) => entry.includes(":"));
  if (withPort !== undefined) throw invalid(`'${withPort}' names a port; the vendor goes by names alone.`);
  return network.allow.length === 0 ? "none" : network;
}

export function reachOf(network: VendorNetwork): NetworkReach {
  return typeof network === "string" ? network : "allow-list";
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `network: ${message}`, {
    hint: 'Leave it out for none, or write network: { allow: ["pypi.org", "*.pythonhosted.org"] }.',
  });
}
