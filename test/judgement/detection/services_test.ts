import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Config, loadConfig } from "../../../config.ts";
import { type FollowedServices, followServices } from "../../../judgement/detection/mod.ts";
import type { Store } from "../../../store/mod.ts";
import { getRunbookValues } from "../../../store/catalogue/mod.ts";
import { findSettingsFile } from "../../../store/platform/mod.ts";
import { getImpact, getService, listServiceNames } from "../../../store/cmdb/mod.ts";
import { createLog } from "../../../runtime/web/mod.ts";
import { testFolder } from "../../_run.ts";
import { testStore } from "../../_servers.ts";

describe("followServices()", () => {
  let store: Store;
  let config: Config;
  let close: () => Promise<void>;
  let path: string;
  const following: FollowedServices[] = [];
  before(async () => {
    ({ store, config, close } = await testStore());
    path = join(config.dataDir, "sealoop.services.yaml");
  });
  beforeEach(() => rm(path, { force: true }));
  afterEach(() => following.splice(0).forEach((one) => one.stop()));
  after(() => close());

  async function follow({ together = true } = {}): Promise<FollowedServices> {
    const followed = await followServices(
      { config, store, together },
      createLog("test", "silent"),
    );
    following.push(followed);
    return followed;
  }
  const names = () => listServiceNames(store.asPlatform());
  const affectedBy = async (service: string) =>
    (await getImpact(store.asPlatform(), service, 4))!.downstream.map(({ name }) => name).sort();

  it("puts the platform's parts and their edges into the graph", async () => {
    await follow();
    assert.deepEqual(await affectedBy("postgresql"), [
      "engine",
      "gateway",
      "public-ledger",
      "sequencer",
      "tool-server",
      "worker",
    ]);
    const { dependsOn } = (await getService(store.asPlatform(), "gateway"))!;
    assert.deepEqual(dependsOn.map(({ service, kind }) => [service, kind]), [
      ["engine", "connects_to"],
      ["postgresql", "stores_in"],
      ["temporal", "connects_to"],
      ["this-host", "hosted_on"],
    ]);
    await follow({ together: false });
    assert.ok(!(await names()).includes("this-host"));
  });

  it("adds an edge from each service to its machine", async () => {
    writeFileSync(
      path,
      `services:
  - { name: db1-machine, type: host, host: db1 }
  - { name: database, host: db1 }
  - { name: shop, host: 127.0.0.1, depends_on: [{ service: database, kind: stores_in }] }
`,
    );
    await follow();
    assert.deepEqual(await affectedBy("db1-machine"), ["database", "shop"]);
    assert.ok((await affectedBy("this-host")).includes("shop"));
    assert.ok(!(await affectedBy("this-host")).includes("database"));
  });

  it("replaces the services by those of the file as it is now", async () => {
    writeFileSync(path, "services:\n  - { name: database }\n");
    await follow();
    writeFileSync(path, "services:\n  - { name: shop, depends_on: [temporal] }\n");
    await follow();
    assert.ok(!(await names()).includes("database"));
    assert.ok((await affectedBy("temporal")).includes("shop"));
  });

  it("changes nothing where the file is wrong at the start, and says so", async () => {
    writeFileSync(path, "services:\n  - { name: shop }\n");
    await follow();
    writeFileSync(path, "services:\n  - { name: other, depends_on: [nobody] }\n");
    const { refresh } = await follow();
    assert.equal(await refresh(), "services_file_line_2");
    assert.equal((await findSettingsFile(store.asPlatform(), "services"))?.state, "refused");
    assert.ok((await names()).includes("shop"));
  });

  it("follows the file, and keeps the old services where a new version is wrong", async () => {
    writeFileSync(path, "services:\n  - { name: shop }\n");
    const { refresh } = await follow();
    writeFileSync(
      path,
      "services:\n  - { name: shop }\n  - { name: till, depends_on: [shop] }\n",
    );
    assert.equal(await refresh(), undefined);
    assert.ok((await names()).includes("till"));

    writeFileSync(
      path,
      "services:\n  - { name: shop }\n  - { name: bank, depends_on: [nobody] }\n",
    );
    assert.equal(await refresh(), "services_file_line_3");
    assert.equal(await refresh(), "services_file_line_3");
    const kept = await names();
    assert.ok(kept.includes("till") && !kept.includes("bank"));

    writeFileSync(path, "services:\n  - { name: bank }\n");
    assert.equal(await refresh(), undefined);
    const now = await names();
    assert.ok(now.includes("bank") && !now.includes("till"));
  });

  it("keeps the services of a file that is removed", async () => {
    writeFileSync(path, "services:\n  - { name: shop }\n");
    const { refresh } = await follow();
    await rm(path);
    assert.equal(await refresh(), undefined);
    assert.ok((await names()).includes("shop"));
  });

  it("takes back only what the same file has brought, and nothing where there is no file", async () => {
    writeFileSync(
      path,
      "services:\n  - { name: shop, runbook_values: { unit: shop.service } }\n  - { name: till }\n",
    );
    await follow();
    const other = loadConfig({ SEALOOP_DATA: await testFolder(), SEALOOP_PLACE: "n2" });
    const otherPath = join(other.dataDir, "sealoop.services.yaml");
    const followOther = async () =>
      following.push(
        await followServices(
          { config: other, store, together: false },
          createLog("test", "silent"),
        ),
      );
    await followOther(); // without a file
    const declared = async () =>
      (await names()).filter((name) => ["shop", "till", "bank"].includes(name)).sort();
    assert.deepEqual(await declared(), ["shop", "till"]);
    assert.deepEqual(await getRunbookValues(store.asPlatform(), "shop"), { unit: "shop.service" });
    writeFileSync(otherPath, "services:\n  - { name: bank }\n  - { name: till, host: db1 }\n");
    await followOther();
    assert.deepEqual(await declared(), ["bank", "shop", "till"]);
    writeFileSync(otherPath, "services: []\n");
    await followOther();
    assert.deepEqual(await declared(), ["shop"]);
    assert.deepEqual(await getRunbookValues(store.asPlatform(), "shop"), { unit: "shop.service" });
    await follow(); // the file here still has both
    assert.deepEqual(await declared(), ["shop", "till"]);
    await rm(path);
    await follow();
    assert.deepEqual(await declared(), ["shop", "till"]);
    assert.ok(
      (await names()).includes("this-host"),
      "the part of the other worker's platform is gone",
    );
  });
});
