import { BlockList, isIP } from "node:net";

/** What may be reached: the public Internet, networks that were allowed, or not. */
export type AddressKind = "public" | "allowed" | "refused";

/** Tells addresses apart. */
export interface AddressRules {
  /** @param address of version 4 or 6, with or without a zone */
  classify(address: string): AddressKind;
}

/**
 * Networks that are not part of the public Internet.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 */
const NOT_PUBLIC_4 = [
  "0.0.0.0/8", // this host
  "10.0.0.0/8",
  "100.64.0.0/10", // of carriers; some clouds have their metadata there
  "127.0.0.0/8",
  "169.254.0.0/16", // link-local, where clouds have their metadata
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24", // relays to version 6
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3", // multicast, reserved, broadcast
];
/** Of version 6 this alone is in use. @see https://www.iana.org/assignments/ipv6-address-space */
const PUBLIC_6 = "2000::/3";
/** @see https://www.iana.org/assignments/iana-ipv6-special-registry */
const NOT_PUBLIC_6 = [
  "2001::/23", // Teredo, ORCHID, benchmarks
  "2001:db8::/32",
  "2002::/16", // 6to4: an address of version 4 within
  "2620:4f:8000::/48",
  "3fff::/20",
  "3ffe::/16",
];

/** A setting that names a network which is none. */
export class BadNetwork extends Error {
  override readonly name = "BadNetwork";
  /** @param network as it was written */
  constructor(readonly network: string) {
    super(`Expected networks like 10.1.0.0/16, fd00::/8 or 127.0.0.1, and ${network} is none`);
  }
}

/**
 * Reads networks that may be reached besides the public Internet.
 *
 * @param allow in CIDR form; an address alone is that one
 * @throws {BadNetwork}
 */
export function parseNetworks(allow: readonly string[]): AddressRules {
  const allowed = listOf(allow);
  const notPublic4 = listOf(NOT_PUBLIC_4);
  const public6 = listOf([PUBLIC_6]);
  const notPublic6 = listOf(NOT_PUBLIC_6);
  return {
    classify(written) {
      const address = plainAddress(written);
      const version = isIP(address);
      if (version === 0) return "refused";
      const family = version === 4 ? "ipv4" : "ipv6";
      if (allowed.check(address, family)) return "allowed";
      const isPublic = version === 4
        ? !notPublic4.check(address, family)
        : public6.check(address, family) && !notPublic6.check(address, family);
      return isPublic ? "public" : "refused";
    },
  };
}

/** The one spelling of an address, without a zone; one of version 4 that is written as version 6 is that of version 4. */
export function plainAddress(written: string): string {
  const address = written.replace(/%.*$/, "");
  if (isIP(address) !== 6) return address;
  const { hostname } = new URL(`http://[${address}]`); // the one spelling of all
  const mapped = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname);
  if (!mapped) return hostname.slice(1, -1);
  return [mapped[1]!, mapped[2]!].flatMap((part) => {
    const n = parseInt(part, 16);
    return [n >> 8, n & 255];
  }).join(".");
}

/** A list that tells which addresses are in these networks. @throws {BadNetwork} */
function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", length, more] = network.trim().split("/");
    const version = isIP(address);
    const longest = version === 4 ? 32 : 128;
    const prefix = length === undefined ? longest : Number(length);
    const isNetwork = version !== 0 && more === undefined && length !== "" &&
      Number.isInteger(prefix) && prefix >= 0 && prefix <= longest;
    if (!isNetwork) throw new BadNetwork(network);
    list.addSubnet(address, prefix, version === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
