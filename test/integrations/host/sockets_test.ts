import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { type ListeningSocket, listSockets } from "../../../integrations/host/mod.ts";

describe("listSockets()", () => {
  const servers: Server[] = [];

  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  for (const address of ["127.0.0.1", "::1", "0.0.0.0"]) {
    it(`finds a socket on ${address}, and the process that holds it`, async function () {
      const port = await listen(address).catch(() => this.skip()); // not every machine has IPv6
      const found = (await listSockets())
        .filter((socket) => socket.port === port && socket.address === address); // another program may use the port on another address
      assert.deepEqual(found, [{ port, address, pid: process.pid, program: "node" }]);
    });
  }

  it("forgets a socket that was closed", async () => {
    const port = await listen("127.0.0.1");
    await new Promise((resolve) => servers.pop()!.close(resolve));
    const ours = ({ port: at, pid }: ListeningSocket) => at === port && pid === process.pid;
    assert.equal((await listSockets()).some(ours), false);
  });

  function listen(address: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const server = createServer().once("error", reject).listen(0, address, () => {
        servers.push(server);
        resolve((server.address() as { port: number }).port);
      });
    });
  }
});
