import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { probe } from "../../../integrations/host/mod.ts";
import { freePort } from "../../_run.ts";

/** Long enough for a busy machine. */
const TIMEOUT_MS = 60_000;

describe("probe()", () => {
  const servers: Server[] = [];
  after(() => servers.forEach((server) => server.closeAllConnections() ?? server.close()));

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  const STATUSES = [
    [200, "ok"],
    [204, "ok"],
    [302, "ok"],
    [404, "status_404"],
    [503, "status_503"],
  ] as const;
  for (const [status, code] of STATUSES) {
    it(`returns ${code} for an HTTP service that answers ${status}`, async () => {
      const http = await serve((_, res) => res.writeHead(status, { location: "/" }).end());
      assert.equal((await probe({ http }, TIMEOUT_MS)).code, code);
    });
  }

  it("returns refused where nobody listens, over HTTP and TCP", async () => {
    const port = await freePort();
    assert.equal((await probe({ http: `http://127.0.0.1:${port}/` }, TIMEOUT_MS)).code, "refused");
    assert.equal((await probe({ tcp: `127.0.0.1:${port}` }, TIMEOUT_MS)).code, "refused");
  });

  it("returns timeout for a service that never answers", async () => {
    const http = await serve(() => {});
    const { code, elapsedMs } = await probe({ http }, 200);
    assert.equal(code, "timeout");
    assert.ok(elapsedMs < TIMEOUT_MS, `${elapsedMs} ms`);
  });

  it("reads no more than the head of a response that never ends", async () => {
    let sent = 0;
    const http = await serve((_, res) => {
      res.writeHead(200);
      const more = () => {
        while (!res.destroyed && res.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      res.on("drain", more);
      more();
    });
    assert.equal((await probe({ http }, TIMEOUT_MS)).code, "ok");
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(sent < 20_000_000, `${sent} bytes were sent`);
  });
  for (const [address, host] of [["127.0.0.1", "127.0.0.1"], ["::1", "[::1]"]] as const) {
    it(`returns ok for a TCP port of ${host} that accepts connections`, async function () {
      const server = createTcpServer((socket) => socket.destroy()).listen(0, address);
      const started = await once(server, "listening").catch(() => undefined);
      if (!started) return this.skip(); // not every machine has IPv6
      const { port } = server.address() as AddressInfo;
      assert.equal((await probe({ tcp: `${host}:${port}` }, TIMEOUT_MS)).code, "ok");
      server.close();
    });
  }

  it("runs a command without a shell, and returns how it ended", async () => {
    assert.equal((await probe({ command: ["true"] }, TIMEOUT_MS)).code, "ok");
    assert.equal((await probe({ command: ["sh", "-c", "exit 3"] }, TIMEOUT_MS)).code, "exit_3");
    assert.equal(
      (await probe({ command: ["test", "$HOME", "=", "$HOME"] }, TIMEOUT_MS)).code,
      "ok",
    );
    assert.equal((await probe({ command: ["no-such-program"] }, TIMEOUT_MS)).code, "enoent");
    assert.equal((await probe({ command: ["sleep", "60"] }, 100)).code, "timeout");
    const crash = { command: ["sh", "-c", "kill -SEGV $$"] };
    assert.equal((await probe(crash, TIMEOUT_MS)).code, "sigsegv");
    const killed = { command: ["sh", "-c", "kill -KILL $$"] };
    assert.equal((await probe(killed, TIMEOUT_MS)).code, "sigkill");
  });

  it("returns the last line that a failing command has printed, and does not wait for its children", async () => {
    const output = async (script: string) =>
      (await probe({ command: ["sh", "-c", script] }, TIMEOUT_MS)).output;
    assert.equal(await output("echo ok; exit 0"), undefined);
    assert.equal(await output("exit 3"), undefined);
    assert.equal(await output("echo checking; echo '5012 wait' >&2; echo; exit 3"), "5012 wait");
    assert.equal(await output("sleep 30 & echo 'no lag file'; exit 2"), "no lag file");
    assert.equal((await output("yes x | tr -d '\\n' | head -c 9000; exit 1"))!.length, 200);
  });

  it("hides the platform's settings and passwords from commands", async () => {
    const secrets = { SEALOOP_TEST_SECRET: "s3cret", PGPASSWORD: "s3cret", DATABASE_URL: "s3cret" };
    Object.assign(process.env, secrets);
    const script =
      "! tr '\\0' '\\n' < /proc/$$/environ | grep -E '^(SEALOOP_|PG|DATABASE_URL)' && " +
      'test -n "$PATH" && test -z "$SEALOOP_TEST_SECRET$PGPASSWORD$DATABASE_URL"';
    try {
      assert.equal((await probe({ command: ["sh", "-c", script] }, TIMEOUT_MS)).code, "ok");
    } finally {
      for (const name of Object.keys(secrets)) delete process.env[name];
    }
  });
});
