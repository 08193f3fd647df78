/** Tells whether an address belongs to the public Internet. */
import ipaddr from "ipaddr.js";

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * False for whatever is or may lead to this machine, its network or its cloud's: loopback, private, link-local,
 * carrier-grade NAT, multicast, reserved, unspecified, and IPv6 addresses that carry an IPv4 one (mapped, NAT64,
 * 6to4, Teredo). False for what is not an address.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(GLOBAL_UNICAST);
}

/** Where clouds keep the credentials of their machines; also when an IPv6 address carries it. False for what is not an address. */
export function isLinkLocalAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() === "linkLocal";
}
