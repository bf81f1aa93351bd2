import { isIP } from "node:net";
import { Problem } from "../../contract/mod.ts";
import { DISCOVERY_LIMITS } from "../../contract/domain/mod.ts";
import { parseNetworks, plainAddress } from "../http/mod.ts";

/** Addresses of a discovery. */
export interface Targets {
  /** Those that may be looked at, each once, in the order of the targets. */
  readonly addresses: readonly string[];
  /** Number of those that may not be. */
  readonly refused: number;
}

/** A discovery that was asked for. */
export interface TargetRequest {
  readonly targets: readonly string[];
  readonly ports: readonly number[];
}

/** Networks of this machine alone. */
const LOOPBACK = ["127.0.0.0/8", "::1"];

/**
 * Lists the addresses of targets, and leaves out those that are neither loopback nor of an allowed network.
 *
 * @param allow networks that the operator allows, in CIDR form
 * @throws {Problem} `InvalidInput`: a target is no address or network, or they are too many; `Forbidden`: none may be
 * looked at
 */
export function listTargets({ targets, ports }: TargetRequest, allow: readonly string[]): Targets {
  const all = [...new Set(targets.flatMap(addressesOf))];
  const { addresses: maxAddresses, probes } = DISCOVERY_LIMITS;
  if (all.length > maxAddresses || all.length * ports.length > probes) {
    throw new Problem(
      "InvalidInput",
      `Cannot look at ${all.length} addresses with ${ports.length} ports each: at most ${maxAddresses} addresses, and ` +
        `${probes} addresses times ports, are looked at in one discovery`,
    );
  }
  const rules = parseNetworks([...LOOPBACK, ...allow]);
  const addresses = all.filter((address) => rules.classify(address) === "allowed");
  if (addresses.length === 0) {
    throw new Problem(
      "Forbidden",
      "Cannot look at these addresses: only loopback and the networks in SEALOOP_DISCOVERY_ALLOW may be",
    );
  }
  return { addresses, refused: all.length - addresses.length };
}

/** Returns the first of some addresses that lies in an allowed network, or undefined. Loopback is none of these. */
export function findAllowed(
  addresses: readonly string[],
  allow: readonly string[],
): string | undefined {
  const rules = parseNetworks(allow);
  return addresses.find((address) => isIP(address) !== 0 && rules.classify(address) === "allowed");
}

/** Lists the hosts of a network: of version 4 without its own address and its broadcast address. */
function addressesOf(target: string): string[] {
  const [address = "", length, more] = target.trim().split("/");
  const version = isIP(address);
  const bits = version === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : NaN;
  if (version === 0 || more !== undefined || address.includes("%") || !(prefix <= bits)) {
    throw new Problem(
      "InvalidInput",
      `Cannot look at ${target}: expected an address or a network, as 10.1.2.3 or 10.1.2.0/24`,
    );
  }
  const size = 1n << BigInt(bits - prefix);
  if (size > BigInt(DISCOVERY_LIMITS.addresses)) {
    throw new Problem(
      "InvalidInput",
      `Cannot look at ${target}: it has more than ${DISCOVERY_LIMITS.addresses} addresses`,
    );
  }
  const first = toNumber(address, version) & ~(size - 1n);
  const hasEnds = version === 4 && size > 2n;
  const [from, to] = hasEnds ? [first + 1n, first + size - 1n] : [first, first + size];
  const found: string[] = [];
  for (let n = from; n < to; n++) found.push(plainAddress(toText(n, version)));
  return found;
}

function toNumber(address: string, version: number): bigint {
  if (version === 4) {
    return address.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  }
  // The URL parser has the one spelling of an address of version 6, also where its end is one of version 4.
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const words = (part: string) => part === "" ? [] : part.split(":");
  const right = words(tail ?? "");
  const left = words(head);
  const zeros = Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right]
    .reduce((sum, word) => sum * 65_536n + BigInt(`0x${word}`), 0n);
}

function toText(n: bigint, version: number): string {
  const [parts, bits] = version === 4 ? [4, 8n] : [8, 16n];
  const values = Array.from(
    { length: parts },
    (_, i) => (n >> (bits * BigInt(parts - 1 - i))) & ((1n << bits) - 1n),
  );
  return version === 4 ? values.join(".") : values.map((value) => value.toString(16)).join(":");
}
