import { randomInt } from "node:crypto";
import { checkPort } from "../../runtime/embedded/mod.ts";

/** Below the range from which systems take ports for outgoing connections: a free one of those is soon taken. */
const FIRST = 20_000;
const END = 32_000;
const MAX_ATTEMPTS = 100;

/**
 * Finds a port of loopback that nobody listens on. Another program may take it before it is used.
 *
 * @throws {Error} none of many ports is free
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const port = randomInt(FIRST, END);
    if (await checkPort(port, "127.0.0.1") === undefined) return port;
  }
  throw new Error(
    `Cannot find a free port: none of ${MAX_ATTEMPTS} between ${FIRST} and ${END} can be listened on`,
  );
}
