import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { followServices } from "../../judgement/detection/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { listOpenFindings, listTickets } from "../../store/incidents/mod.ts";
import { findSettingsFile } from "../../store/platform/mod.ts";
import { getService } from "../../store/cmdb/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import type { itsmSweep } from "../../workflows/mod.ts";
import { openLoop, type TestLoop } from "../workflows/_loop.ts";

/** Fails each look, and nothing is configured that would mend it. */
const DOWN = "check: { tcp: '127.0.0.1:1' }";

describe("the loop of a tenant's service", () => {
  let loop: TestLoop;
  let path: string;

  before(async () => {
    loop = await openLoop();
    path = join(loop.config.dataDir, "sealoop.services.yaml");
  });
  after(() => loop?.stop());

  /** Puts a file of these services in force. @returns code of why it was refused; undefined: it was not */
  async function follow(services: readonly string[]): Promise<string | undefined> {
    await writeFile(path, `services:\n${services.map((line) => `  - { ${line} }\n`).join("")}`);
    const context = { config: loop.config, store: loop.store, together: false };
    const followed = await followServices(context, createLog("test", "silent"));
    followed.stop();
    return await followed.refresh();
  }

  it("opens its ticket in the tenant that the services file names, and in no other", async () => {
    await follow([
      `name: shop, tenant: acme, ${DOWN}`,
      `name: desk, tenant: rival, ${DOWN}`,
    ]);
    const [acme, rival] = [loop.store.asTenant("acme"), loop.store.asTenant("rival")];
    const platform = loop.store.asPlatform();
    assert.ok(await getService(acme, "shop"));
    assert.equal(await getService(rival, "shop"), undefined);
    assert.equal(await getService(platform, "shop"), undefined);

    for (let sweep = 0; sweep < 3; sweep++) { // a fault counts when it is seen again
      await loop.client.workflow.execute<typeof itsmSweep>(WORKFLOW.itsmSweep, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `sweep-${sweep}`,
      });
    }
    const ticketOf = async (db: typeof acme, service: string) => {
      for (;;) {
        const [ticket] = await listTickets(db, { service, limit: 1 });
        if (ticket?.receipt_id) return ticket;
        await sleep(50);
      }
    };
    const [shop, desk] = await Promise.all([ticketOf(acme, "shop"), ticketOf(rival, "desk")]);
    assert.equal((await listTickets(acme, { limit: 10 })).length, 1);
    assert.equal((await listTickets(rival, { limit: 10 })).length, 1);
    assert.deepEqual(await listTickets(platform, { service: "shop", limit: 10 }), []);
    assert.deepEqual((await listOpenFindings(acme)).map(({ service }) => service), ["shop"]);
    assert.deepEqual((await listOpenFindings(rival)).map(({ service }) => service), ["desk"]);
    assert.notEqual(shop.workflow_id, desk.workflow_id);
    const { typedSearchAttributes } = await loop.client.workflow.getHandle(shop.workflow_id!)
      .describe();
    const tenant = typedSearchAttributes.getAll().find(({ key }) => key.name === "SealoopTenant");
    assert.equal(tenant?.value, "acme");
  });

  it("ends with the service's tenant in the file", async () => {
    await follow([`name: desk, tenant: rival, ${DOWN}`]);
    assert.equal(await getService(loop.store.asTenant("acme"), "shop"), undefined);
    assert.ok(await getService(loop.store.asTenant("rival"), "desk"));
  });

  it("needs services of its own tenant alone", async () => {
    const services = [`name: db, tenant: acme`, `name: desk, tenant: rival, depends_on: [db]`];
    assert.equal(await follow(services), "services_file_line_3");
    const [mistake] = (await findSettingsFile(loop.store.asPlatform(), "services"))!.mistakes;
    assert.equal(mistake!.text, "there is no service named db of rival");
  });
});
