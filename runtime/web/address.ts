import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/**
 * Returns the client's address, by which anonymous callers are counted.
 *
 * Every proxy appends the address that it was called from to `X-Forwarded-For`, so the entry of the outermost trusted
 * proxy is the `trustedHops`-th from the right. Entries left of it may be forged.
 *
 * @param trustedHops trusted proxies in front, ≥ 0; at 0 the header is ignored
 * @returns an IPv4 address, or the `/64` of an IPv6 one, as a network of that size belongs to one customer
 */
export function getClientAddress(req: IncomingMessage, trustedHops: number): string {
  const direct = req.socket.remoteAddress ?? "unknown";
  if (trustedHops === 0) return toNetwork(direct);
  const entries = (req.headers["x-forwarded-for"]?.toString() ?? "")
    .split(",").map(stripPort).filter((entry) => entry !== "");
  const entry = entries[Math.max(0, entries.length - trustedHops)];
  return toNetwork(entry !== undefined && isIP(entry) ? entry : direct);
}

/** Removes the brackets and the port that some proxies add. */
function stripPort(entry: string): string {
  const text = entry.trim();
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

function toNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  const plain = address.split("%")[0]!.toLowerCase();
  const mapped = /^::ffff:([\d.]+)$/.exec(plain)?.[1];
  if (mapped) return mapped;
  const [head = "", tail] = plain.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [
    ...left,
    ...Array(Math.max(0, 8 - left.length - right.length)).fill("0"),
    ...right,
  ];
  return `${groups.slice(0, 4).map((g) => g.replace(/^0+(?=.)/, "")).join(":")}::/64`;
}
