import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the range from which systems take ports for outgoing connections: a free one of those is soon taken. */
const FIRST = 20_000;
const END = 32_000;
const MAX_ATTEMPTS = 100;

/**
 * Finds a port of loopback that nobody listens on. Another program may take it before it is used.
 *
 * @throws {Error} why the last attempt failed, when none of many ports is free
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 1;; attempt++) {
    const port = randomInt(FIRST, END);
    try {
      await listenOnce(port);
      return port;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

function listenOnce(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject).listen(port, "127.0.0.1", () => {
      server.close(() => resolve());
    });
  });
}
