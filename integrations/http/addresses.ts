import { BlockList, isIP } from "node:net";

/** Kind of an address: of the public Internet, of a network that was allowed, or one that may not be reached. */
type AddressKind = "public" | "allowed" | "refused";

/** Rules about which addresses may be reached. */
export interface AddressRules {
  /** @param address of version 4 or 6, with or without a zone */
  classify(address: string): AddressKind;
}

/**
 * Networks that are not part of the public Internet.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 */
const NOT_PUBLIC_4 = networkList([
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
]);
/** The part of version 6 that is in use. @see https://www.iana.org/assignments/ipv6-address-space */
const PUBLIC_6 = networkList(["2000::/3"]);
/** @see https://www.iana.org/assignments/iana-ipv6-special-registry */
const NOT_PUBLIC_6 = networkList([
  "2001::/23", // Teredo, ORCHID, benchmarks
  "2001:db8::/32",
  "2002::/16", // 6to4: an address of version 4 within
  "2620:4f:8000::/48",
  "3fff::/20",
  "3ffe::/16",
]);

/** A setting names a network that is none. */
export class BadNetwork extends Error {
  override readonly name = "BadNetwork";
  /** @param network as it was written */
  constructor(readonly network: string) {
    super(
      `Cannot read ${network} as a network: expected one like 10.1.0.0/16, fd00::/8 or 127.0.0.1`,
    );
  }
}

/**
 * Parses the networks that may be reached besides the public Internet.
 *
 * @param allow in CIDR form; an address alone is that one
 * @throws {BadNetwork}
 */
export function parseNetworks(allow: readonly string[]): AddressRules {
  const allowed = networkList(allow);
  return {
    classify(written) {
      const address = plainAddress(written);
      const version = isIP(address);
      if (version === 0) return "refused";
      const family = version === 4 ? "ipv4" : "ipv6";
      if (allowed.check(address, family)) return "allowed";
      const isPublic = version === 4
        ? !NOT_PUBLIC_4.check(address, family)
        : PUBLIC_6.check(address, family) && !NOT_PUBLIC_6.check(address, family);
      return isPublic ? "public" : "refused";
    },
  };
}

/** Returns an address in its one spelling, without a zone. Version 4 written as version 6 becomes version 4. */
export function plainAddress(written: string): string {
  const address = written.replace(/%.*$/, "");
  if (isIP(address) !== 6) return address;
  const { hostname } = new URL(`http://[${address}]`);
  const mapped = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname);
  if (!mapped) return hostname.slice(1, -1);
  return [mapped[1]!, mapped[2]!].flatMap((part) => {
    const n = parseInt(part, 16);
    return [n >> 8, n & 255];
  }).join(".");
}

/** @throws {BadNetwork} */
function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", length, more] = network.trim().split("/");
    const version = isIP(address);
    const maxPrefix = version === 4 ? 32 : 128;
    const prefix = length === undefined ? maxPrefix : Number(length);
    const isNetwork = version !== 0 && more === undefined && length !== "" &&
      Number.isInteger(prefix) && prefix >= 0 && prefix <= maxPrefix;
    if (!isNetwork) throw new BadNetwork(network);
    list.addSubnet(address, prefix, version === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
