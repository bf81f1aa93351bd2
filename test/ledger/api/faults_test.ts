import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { claimDataFolder, startPostgres } from "../../../runtime/embedded/mod.ts";
import { migrate, openStore } from "../../../store/mod.ts";
import { freePort, testFolder } from "../../_run.ts";
import { serveLedger, startSealing } from "../_ledger.ts";
import { asSuperuser } from "../scrub/_scrub.ts";
import { publicPaths } from "./_requests.ts";
import { letTestsSeal } from "../../_servers.ts";

describe("a record that was replaced by garbage", () => {
  for (const garbage of ["", "null", "[]", "{", "no JSON", '{"id":1}', "\\xff"]) {
    it(`(${JSON.stringify(garbage)}) is not verified, and causes no error elsewhere`, async () => {
      const sealing = await startSealing();
      const [, id] = await sealing.seal(2);
      const ledger = await serveLedger(sealing.database);
      try {
        await asSuperuser(
          sealing,
          (client) =>
            client.query("UPDATE receipts SET record = $1 WHERE id = $2", [
              Buffer.from(garbage, "latin1"),
              id,
            ]),
        );
        for (const path of [...publicPaths(id!), "/", `/receipt/${id}`]) {
          if (path === "/checkpoint" || path.startsWith("/api/log")) continue;
          const { status } = await fetch(ledger.address + path);
          assert.ok(status < 500, `${path}: ${status}`);
        }
        const { verified } = await (await fetch(`${ledger.address}/api/verify/${id}`))
          .json() as { verified: boolean };
        assert.equal(verified, false);
      } finally {
        await ledger.stop();
        await sealing.stop();
      }
    });
  }
});

describe("the public ledger without its database", () => {
  it("answers 503 at every path, and recovers", async () => {
    const folder = await testFolder();
    const [port, tree] = [await freePort(), await claimDataFolder(folder)];
    let server = await startPostgres(folder, port, tree);
    const owner = openStore(server.urls.owner, "owner");
    await migrate(owner);
    await letTestsSeal(owner);
    await owner.close();
    const ledger = await serveLedger(server);
    const status = async (path: string) => (await fetch(`${ledger.address}${path}`)).status;
    try {
      while (await status("/api/stats") !== 200) await sleep(10);
      await server.stop();
      while (await status("/api/stats") !== 503) await sleep(50);
      for (const path of publicPaths("receipt-000001")) {
        const response = await fetch(`${ledger.address}${path}`);
        assert.equal(response.status, 503, path);
        const body = await response.json() as Record<string, unknown>;
        if (path.startsWith("/api/")) assert.equal(body["chain_intact"], null, path);
      }
      for (const path of ["/", "/receipt/receipt-000001", "/find?q=receipt-000001"]) {
        const page = await fetch(`${ledger.address}${path}`);
        assert.equal(page.status, 503, path);
        const text = await page.text();
        assert.match(text, /The ledger is unavailable/);
        assert.doesNotMatch(text, /\bintact\b/i);
      }
      server = await startPostgres(folder, port, tree);
      while (await status("/api/stats") !== 200) await sleep(50);
    } finally {
      await ledger.stop();
      await server.stop();
      await tree.stop();
      await tree.release();
    }
  });
});
