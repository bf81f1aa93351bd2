import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the range that systems take ports of outgoing connections from: there, one found free is soon taken. */
const [FIRST, END] = [20_000, 32_000];
const ATTEMPTS = 100;

/**
 * A port of loopback that nobody listens on now; somebody else may take it before its use.
 *
 * @throws {Error} What the last attempt was refused for, when none of many is free.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 1;; attempt++) {
    const port = randomInt(FIRST, END);
    try {
      await listenOnce(port);
      return port;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
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
