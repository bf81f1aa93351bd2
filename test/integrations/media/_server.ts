import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts a server that counts its requests. */
export async function startTestServer() {
  let count = 0;
  const server = createServer((_, response) => {
    count += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => count,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
