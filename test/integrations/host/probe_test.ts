import assert from "node:assert/strict";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { probe } from "../../../integrations/host/mod.ts";
import { freePort } from "../../_servers.ts";

/** What a busy machine needs. */
const PATIENCE_MS = 60_000;

describe("probe()", () => {
  const servers: Server[] = [];
  after(() => servers.forEach((server) => server.closeAllConnections() ?? server.close()));

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  for (
    const [status, code] of [[200, "ok"], [204, "ok"], [302, "ok"], [404, "status_404"], [
      503,
      "status_503",
    ]] as const
  ) {
    it(`says ${code} of an HTTP service that answers ${status}`, async () => {
      const http = await serve((_, res) => res.writeHead(status, { location: "/" }).end());
      assert.equal((await probe({ http }, PATIENCE_MS)).code, code);
    });
  }
  it("says refused where nobody listens, over HTTP and TCP", async () => {
    const port = await freePort();
    assert.equal((await probe({ http: `http://127.0.0.1:${port}/` }, PATIENCE_MS)).code, "refused");
    assert.equal((await probe({ tcp: `127.0.0.1:${port}` }, PATIENCE_MS)).code, "refused");
  });
  it("says timeout of a service that never answers, within its time", async () => {
    const http = await serve(() => {});
    const { code, elapsedMs } = await probe({ http }, 200);
    assert.equal(code, "timeout");
    assert.ok(elapsedMs < 20_000, `${elapsedMs} ms`);
  });
  it("reads no more than the head of an answer that never ends", async () => {
    let sent = 0;
    const http = await serve((_, res) => {
      res.writeHead(200);
      const more = () => {
        while (!res.destroyed && res.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      res.on("drain", more);
      more();
    });
    assert.equal((await probe({ http }, PATIENCE_MS)).code, "ok");
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(sent < 20_000_000, `${sent} bytes were sent`);
  });
  it("says ok of a TCP port that takes connections", async () => {
    const server = createTcpServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    assert.equal((await probe({ tcp: `127.0.0.1:${port}` }, PATIENCE_MS)).code, "ok");
    server.close();
  });
  it("runs a command without a shell, and says how it ended", async () => {
    assert.equal((await probe({ command: ["true"] }, PATIENCE_MS)).code, "ok");
    assert.equal((await probe({ command: ["sh", "-c", "exit 3"] }, PATIENCE_MS)).code, "exit_3");
    assert.equal(
      (await probe({ command: ["test", "$HOME", "=", "$HOME"] }, PATIENCE_MS)).code,
      "ok",
    );
    assert.equal((await probe({ command: ["no-such-program"] }, PATIENCE_MS)).code, "enoent");
    assert.equal((await probe({ command: ["sleep", "5"] }, 100)).code, "timeout");
  });
});
