import { createServer } from "node:net";

/**
 * Checks whether a TCP port can be listened on.
 *
 * @returns the system's error code (`EADDRINUSE`, `EACCES`, …), or undefined where it can
 */
export function checkPort(port: number, address: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
    server.listen({ port, host: address, exclusive: true }, () => {
      server.close(() => resolve(undefined));
    });
  });
}
