import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../../config.ts";
import {
  BadServicesFile,
  followServices,
  readServicesFile,
} from "../../../judgement/detection/mod.ts";
import { getPublicService, recordObservations } from "../../../store/cmdb/mod.ts";
import type { Store } from "../../../store/mod.ts";
import { createLog } from "../../../runtime/web/mod.ts";
import { asSuperuser } from "../../_superuser.ts";
import { testFolder } from "../../_run.ts";
import { testStore } from "../../_servers.ts";

describe("services that are named in public", () => {
  let store: Store;
  let config: Config;
  let close: () => Promise<void>;
  before(async () => ({ store, config, close } = await testStore()));
  after(() => close());

  async function putFile(services: string): Promise<void> {
    writeFileSync(join(config.dataDir, "sealoop.services.yaml"), `services:\n${services}`);
    (await followServices({ config, store, together: true }, createLog("test", "silent"))).stop();
  }
  const sealed = async (category: string) =>
    (await asSuperuser(store).query<{ payload: string }>(
      "SELECT payload FROM seal_outbox WHERE category = $1 ORDER BY seq",
      [category],
    )).map(({ payload }) => JSON.parse(payload));

  it("are those that the file names, each change is sealed, and all others stay private", async () => {
    const shop = "  - { name: shop-7, check: { http: http://127.0.0.1:1 }, public: ";
    const secret = "  - { name: secret-9, check: { tcp: 127.0.0.1:1 } }\n";
    await putFile(`${shop}Shop }\n${secret}`);
    const named = await getPublicService(store.db, "shop-7");
    assert.match(named!.id, /^SVC-[0-9a-f]{12}$/);
    assert.equal(await getPublicService(store.db, "secret-9"), undefined);
    await putFile(`${shop}Shop }\n${secret}`);
    await putFile(`${shop}Store }\n${secret}`);
    await putFile(secret);
    assert.equal(await getPublicService(store.db, "shop-7"), undefined);
    const receipts = await sealed("service_published");
    assert.deepEqual(
      receipts.map(({ subject, outcome, details }) => [subject, outcome, details.name]),
      [
        [named!.id, "public", "Shop"],
        [named!.id, "public", "Store"],
        [named!.id, "private", undefined],
      ],
    );
    assert.doesNotMatch(JSON.stringify(receipts), /shop-7|secret-9/);
  });

  it("need a check", async () => {
    const path = join(await testFolder(), "sealoop.services.yaml");
    writeFileSync(path, "services:\n  - { name: a, public: A }\n");
    assert.throws(() => readServicesFile(path), (error) =>
      error instanceof BadServicesFile &&
      /line 2.*nothing looks at a; a public one needs a check/.test(error.message));
  });

  it("are up only between two looks, close to each other, that both found them healthy", async () => {
    await putFile("  - { name: shop-7, check: { http: http://127.0.0.1:1 }, public: Shop }\n");
    const look = (healthy: boolean) =>
      store.db.transaction((trx) => recordObservations(trx, [{ name: "shop-7", healthy }]));
    /** Moves everything that was seen into the past. */
    const pass = (seconds: number) =>
      asSuperuser(store).execute(
        "UPDATE public_services SET since = since - $1 * interval '1 second', until = until - $1 * interval '1 second'",
        [seconds],
      );
    await look(true);
    await pass(60);
    await look(true); // up for 60 s
    await pass(30);
    await look(false); // 30 s of which it was not up all the time
    await pass(60);
    await look(true); // 60 s
    await pass(7_200);
    const [period, ...others] = await look(true); // nobody has looked for two hours
    assert.deepEqual(others, []);
    const seconds = ({ observedMs, upMs }: typeof period & object) =>
      [observedMs, upMs].map((ms) => Math.round(ms / 1000));
    // Where a day ends between two looks, the period ends there as well.
    if (period!.probes === 4) assert.deepEqual([seconds(period!), period!.failed], [[150, 60], 1]);
    assert.ok(period!.observedMs <= 152_000 && period!.upMs <= 62_000);
    await pass(7_200);
    const [next] = await look(true);
    assert.deepEqual([next!.probes, next!.observedMs], [1, 0]);
  });
});
