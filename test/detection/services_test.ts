import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { BadServicesFile } from "../../detection/mod.ts";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { followServices, syncServices } from "../../detection/services.ts";
import { createLog } from "../../web/log.ts";
import { getImpact, getService, listServiceNames, type Store } from "../../store/mod.ts";
import { testStore } from "../_servers.ts";

describe("syncServices()", () => {
  let store: Store;
  let config: Config;
  let close: () => Promise<void>;
  before(async () => {
    ({ store, config, close } = await testStore());
  });
  after(() => close());

  const write = (text: string) => writeFile(join(config.dataDir, "sealoop.services.yaml"), text);
  const reached = async (service: string) =>
    (await getImpact(store.asPlatform(), service, 4))!.downstream.map(({ name }) => name).sort();

  it("fills the graph with the platform's parts and their edges", async () => {
    await syncServices({ config, store, together: true });
    assert.deepEqual(await reached("postgresql"), [
      ...["engine", "gateway", "public-ledger", "tool-server", "worker"],
    ]);
    const { dependsOn } = (await getService(store.asPlatform(), "gateway"))!;
    assert.deepEqual(dependsOn.map(({ service, kind }) => [service, kind]), [
      ["engine", "connects_to"],
      ["postgresql", "stores_in"],
      ["temporal", "connects_to"],
      ["this-host", "hosted_on"],
    ]);
    await syncServices({ config, store, together: false });
    assert.ok(!(await listServiceNames(store.asPlatform())).includes("this-host"));
  });

  it("hangs what is on a machine on it, and makes the services those of the file as it is now", async () => {
    await write(`services:
  - { name: db1-machine, type: host, host: db1 }
  - { name: database, host: db1 }
  - { name: shop, host: 127.0.0.1, depends_on: [{ service: database, kind: stores_in }] }
`);
    await syncServices({ config, store, together: true });
    assert.deepEqual(await reached("db1-machine"), ["database", "shop"]);
    assert.ok((await reached("this-host")).includes("shop"));
    assert.ok(!(await reached("this-host")).includes("database"));
    await write("services:\n  - { name: shop, depends_on: [temporal] }\n");
    await syncServices({ config, store, together: true });
    assert.ok(!(await listServiceNames(store.asPlatform())).includes("database"));
    assert.ok((await reached("temporal")).includes("shop"));
  });

  it("changes nothing where the file is wrong", async () => {
    await write("services:\n  - { name: other, depends_on: [nobody] }\n");
    await assert.rejects(syncServices({ config, store, together: true }), BadServicesFile);
    assert.ok((await listServiceNames(store.asPlatform())).includes("shop"));
  });

  it("follows the file, and keeps what it said before where the new one is wrong", async () => {
    await write("services:\n  - { name: shop }\n");
    const services = { config, store, together: true };
    const followed = await followServices(services, createLog("test", "silent"));
    try {
      await write("services:\n  - { name: shop }\n  - { name: till, depends_on: [shop] }\n");
      assert.equal(await followed.refresh(), undefined);
      assert.ok((await listServiceNames(store.asPlatform())).includes("till"));

      await write("services:\n  - { name: shop }\n  - { name: bank, depends_on: [nobody] }\n");
      assert.equal(await followed.refresh(), "services_file_line_3");
      assert.equal(await followed.refresh(), "services_file_line_3");
      const kept = await listServiceNames(store.asPlatform());
      assert.ok(kept.includes("till") && !kept.includes("bank"));

      await write("services:\n  - { name: bank }\n");
      assert.equal(await followed.refresh(), undefined);
      const now = await listServiceNames(store.asPlatform());
      assert.ok(now.includes("bank") && !now.includes("till"));
    } finally {
      followed.stop();
    }
  });
});
