import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { putServices } from "../../store/cmdb/mod.ts";
import { freePort, testFolder } from "../_run.ts";
import { asSuperuser } from "../_superuser.ts";
import { startGateway, type TestGateway } from "../api/_gateway.ts";
import { serviceNamed } from "../store/_graph.ts";

describe("ports over REST", () => {
  let gateway: TestGateway;
  let server: Server;
  let taken: number;
  let reserved: number;
  before(async () => {
    gateway = await startGateway({ settings: { SEALOOP_DATA: await testFolder() } });
    [taken, reserved] = [await freePort(), await freePort()];
    server = createServer();
    await new Promise<void>((resolve) => server.listen(taken, "127.0.0.1", resolve));
    await putServices(asSuperuser(gateway.platform.store), [
      serviceNamed("billing", [], { ports: [{ port: taken, program: "postgres" }] }),
      serviceNamed("mail", [], { check: { tcp: `localhost:${reserved}` } }),
    ]);
  });
  after(async () => {
    server.close();
    await gateway.stop();
  });

  // deno-lint-ignore no-explicit-any -- bodies of many shapes
  async function get(path: string, headers?: Record<string, string>): Promise<any> {
    return await (await fetch(gateway.url + path, { headers })).json();
  }

  it("says of a port that it is free, taken and by whom, or reserved and for whom", async () => {
    const free = await get(`/v1/ports/check?port=${await freePort()}`);
    assert.deepEqual([free.state, free.available, free.holder], ["free", true, null]);
    const busy = await get(`/v1/ports/check?port=${taken}`);
    assert.deepEqual([busy.state, busy.available, busy.holder], ["taken", false, "node"]);
    assert.equal(busy.conflicts[0].kind, "held_by_another");
    const kept = await get(`/v1/ports/check?port=${reserved}`);
    assert.deepEqual([kept.state, kept.available], ["reserved", false]);
    assert.equal(kept.detail, `Port ${reserved} is reserved for mail`);
  });

  it("lists declared ports beside those that listen, and names conflicts", async () => {
    const { ports, conflicts } = await get("/v1/ports");
    const of = (port: number) => ports.find((entry: { port: number }) => entry.port === port);
    assert.deepEqual(of(taken).declared_by, [{ service: "billing", by: "ports", setting: null }]);
    assert.deepEqual([of(taken).state, of(taken).conflict], ["listening", true]);
    assert.deepEqual([of(reserved).state, of(reserved).conflict], ["reserved", false]);
    assert.equal(of(8080).declared_by[0].service, "gateway");
    assert.ok(conflicts.some(({ detail }: { detail: string }) => detail.includes("not postgres")));
    assert.deepEqual(
      ports.map(({ port }: { port: number }) => port),
      [
        ...ports.map(({ port }: { port: number }) => port),
      ].sort((a, b) => a - b),
    );
  });

  it("shows processes and addresses only to who has a key", async () => {
    const find = ({ ports }: { ports: { port: number }[] }) => ports.find((p) => p.port === taken);
    const { pid, addresses } = find(await get("/v1/ports")) as Record<string, unknown>;
    assert.deepEqual([pid, addresses], [null, null]);
    const headers = { "x-api-key": await gateway.key() };
    const known = find(await get("/v1/ports", headers)) as Record<string, unknown>;
    assert.deepEqual([known.pid, known.addresses], [process.pid, ["127.0.0.1"]]);
  });

  for (const port of ["80", "1023", "65536", "http", "", "8080.5"]) {
    it(`refuses ${port || "no port"} as 422`, async () => {
      const response = await fetch(`${gateway.url}/v1/ports/check?port=${port}`);
      assert.equal(response.status, 422);
    });
  }
});
