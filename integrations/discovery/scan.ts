import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A host that accepts connections, or that is known as a neighbour. */
export interface ScannedHost {
  readonly address: string;
  readonly ports: readonly number[];
}

const CONNECT_TIMEOUT_MS = 1_000;
/** Pause between the beginnings of two attempts, as the agent makes it. */
const PAUSE_MS = 5;
const MAX_OPEN = 32;

/**
 * Tries to connect to each port of each address, at most 200 attempts a second, and closes what was accepted at once.
 *
 * @param signal ends it early
 * @param neighbours addresses that are there, whatever ports they have open
 * @throws the reason of the signal
 */
export async function scanAddresses(
  addresses: readonly string[],
  ports: readonly number[],
  signal: AbortSignal,
  neighbours: ReadonlySet<string> = readNeighbours(),
): Promise<ScannedHost[]> {
  const open = new Map<string, number[]>(
    addresses.filter((address) => neighbours.has(address)).map((address) => [address, []]),
  );
  const trying = new Set<Promise<void>>();
  for (const address of addresses) {
    for (const port of ports) {
      signal.throwIfAborted();
      if (trying.size >= MAX_OPEN) await Promise.race(trying);
      const attempt = acceptsConnections(address, port).then((accepts) => {
        if (accepts) open.set(address, [...open.get(address) ?? [], port]);
        trying.delete(attempt);
      });
      trying.add(attempt);
      await sleep(PAUSE_MS);
    }
  }
  await Promise.all(trying);
  return addresses.filter((address) => open.has(address)).map((address) => ({
    address,
    ports: open.get(address)!.toSorted((a, b) => a - b),
  }));
}

function acceptsConnections(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
    const end = (accepts: boolean) => {
      socket.destroy();
      resolve(accepts);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}

/** Reads the addresses that this host has lately exchanged packets with on its own networks. */
function readNeighbours(): ReadonlySet<string> {
  try {
    return parseNeighbours(readFileSync("/proc/net/arp", "utf8"));
  } catch {
    return new Set(); // another system than Linux
  }
}

/** Parses the kernel's table of neighbours: those whose hardware address is known. */
export function parseNeighbours(table: string): ReadonlySet<string> {
  const rows = table.split("\n").slice(1).map((line) => line.split(/\s+/));
  const complete = rows.filter(([, , flags, hardware]) =>
    flags !== undefined && flags !== "0x0" && hardware !== "00:00:00:00:00:00"
  );
  return new Set(complete.map(([address]) => address!));
}
