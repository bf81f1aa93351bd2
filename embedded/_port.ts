import { createServer } from "node:net";

/**
 * Tries whether a TCP port can be listened on.
 *
 * @returns the code of the system's refusal (`EADDRINUSE`, `EACCES`, …), or undefined where it can
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
