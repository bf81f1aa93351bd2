import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import type { Config } from "../../../config.ts";
import { discoverServices } from "../../../integrations/host/mod.ts";
import type { Store } from "../../../store/mod.ts";
import { getImpact, putServices } from "../../../store/cmdb/mod.ts";
import { testStore } from "../../_servers.ts";
import { serviceNamed } from "../../store/_graph.ts";
import { asSuperuser } from "../../_superuser.ts";

describe("discoverServices()", () => {
  let store: Store;
  let config: Config;
  let close: () => Promise<void>;
  let server: Server;
  let port: number;
  before(async () => {
    ({ store, config, close } = await testStore());
  });
  after(() => close());
  beforeEach(async () => {
    await asSuperuser(store).execute("DELETE FROM services");
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as { port: number }).port;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const row = async (name: string) =>
    await store.asPlatform().first("SELECT * FROM services WHERE name = $1", [name]);
  const namesOnApp1 = async () =>
    (await store.asPlatform().query("SELECT name FROM services WHERE host = 'app1' ORDER BY name"))
      .map(({ name }) => name);

  it("adds listeners as unwatched services on their host, and removes those that are gone", async () => {
    const machine = serviceNamed("this-host", [], { type: "host", origin: "platform" });
    await putServices(store.asPlatform(), [machine]);
    assert.ok((await discoverServices(config, store, "localhost")).includes(`node-${port}`));
    const { origin, watched, status, type } = (await row(`node-${port}`))!;
    assert.deepEqual({ origin, watched, status, type }, {
      origin: "discovered",
      watched: false,
      status: "up",
      type: "listener",
    });
    const { upstream } = (await getImpact(store.asPlatform(), `node-${port}`, 1))!;
    assert.deepEqual(upstream.map(({ name }) => name), ["this-host"]);
    await new Promise((resolve) => server.close(resolve));
    await discoverServices(config, store, "localhost");
    assert.equal(await row(`node-${port}`), undefined);
  });

  it("skips declared ports, and leaves a declared service of the same name as it is", async () => {
    const name = `node-${port}`;
    await discoverServices(config, store, "localhost");
    await putServices(store.asPlatform(), [
      serviceNamed("other"),
      serviceNamed(name, ["other"], { type: "web", owner: "ada" }),
    ]);
    await discoverServices(config, store, "localhost");
    const declared = await row(name);
    assert.equal(declared?.status, "unknown", "the listener may be another program");
    assert.deepEqual([declared?.origin, declared?.owner], ["file", "ada"]);
    assert.equal((await getImpact(store.asPlatform(), name, 1))!.upstream.length, 1);

    await putServices(store.asPlatform(), [
      serviceNamed("app", [], { check: { tcp: `127.0.0.1:${port}` } }),
    ]);
    assert.ok(!(await discoverServices(config, store, "localhost")).includes(name));
  });

  it("keeps the listeners of two hosts apart, and removes those of a host that nobody looks at", async () => {
    await discoverServices(config, store, "app1");
    const away = await namesOnApp1();
    await discoverServices(config, store, "localhost");
    assert.ok(away.some((name) => name.startsWith(`node-${port}-`)));
    assert.ok(await row(`node-${port}`));
    const found = await namesOnApp1();
    assert.deepEqual(found, away);
    await asSuperuser(store).execute(
      "UPDATE services SET checked_at = now() - interval '16 minutes' WHERE host = 'app1'",
    );
    await discoverServices(config, store, "localhost");
    assert.deepEqual(await namesOnApp1(), []);
  });
});
