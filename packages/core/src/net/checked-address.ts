/** Decides which foreign addresses this server calls. The checked address is the one that is dialled. */
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { isLinkLocalAddress, isPublicAddress } from "./address.ts";

/** Why an address is not called, to stand behind its subject: "must be …". */
export interface RefusedAddress {
  readonly refused: string;
}

/**
 * Names are looked up when they are dialled, by `checkedLookup`. Addresses where clouds keep credentials, link-local
 * ones and a few others, are refused in any case, also inside an address of IPv6.
 */
export function checkedAddress(text: string, allowPrivate: boolean): URL | RefusedAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    return { refused: "must be an http or https address" };
  if (url.username !== "" || url.password !== "") return { refused: "must not carry a name or password" };
  const address = url.hostname.replace(/^\[|\]$/g, "");
  const isAddress = /^[\d.]+$/.test(address) || address.includes(":");
  const isLocalName = /(?:^|\.)localhost\.?$/.test(address);
  if (isAddress ? !isAllowed(address, allowPrivate) : isLocalName && !allowPrivate)
    return { refused: "must be an address of the public Internet" };
  return url;
}

function isAllowed(address: string, allowPrivate: boolean): boolean {
  const plain = address.replace(/%.*$/, "");
  const version = isIP(plain);
  if (version === 0 || CREDENTIALS.check(plain, version === 6 ? "ipv6" : "ipv4")) return false;
  return allowPrivate ? !isLinkLocalAddress(address) : isPublicAddress(address);
}

const CREDENTIALS = credentialAddresses();

/** Metadata addresses of AWS, Google, Azure and others; of Alibaba; of Oracle; of AWS and Google over IPv6. */
function credentialAddresses(): BlockList {
  const list = new BlockList();
  for (const [address, bits] of [
    ["169.254.0.0", 16],
    ["100.100.100.200", 32],
    ["192.0.0.192", 32],
  ] as const) {
    list.addSubnet(address, bits, "ipv4");
    const hex = address.split(".").map((part) => Number(part).toString(16).padStart(2, "0"));
    const groups = `${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`;
    // As IPv6 carries them: mapped, compatible, behind NAT64, in 6to4.
    for (const prefix of ["::ffff:", "::", "64:ff9b::"])
      list.addSubnet(`${prefix}${groups}`, 96 + bits, "ipv6");
    list.addSubnet(`2002:${groups}::`, 16 + bits, "ipv6");
  }
  for (const address of ["fd00:ec2::254", "fd20:ce::254"]) list.addAddress(address, "ipv6");
  return list;
}

type Resolved = (error: Error | null, address: string | readonly LookupAddress[], family?: number) => void;

/** For `node:http`: a name with one address that is not allowed is not dialled at all. `find` asks for all addresses. */
export function checkedLookup(
  allowPrivate: boolean,
  find: (host: string) => Promise<readonly LookupAddress[]> = (host) => lookup(host, { all: true }),
) {
  return (host: string, wanted: { readonly all?: boolean }, done: Resolved): void => {
    find(host).then(
      (found) => {
        const [first] = found;
        if (first === undefined || !found.every(({ address }) => isAllowed(address, allowPrivate)))
          done(new Error("The name leads to a private address."), []);
        else if (wanted.all) done(null, found);
        else done(null, first.address, first.family);
      },
      (error) => done(error, []),
    );
  };
}
