import assert from "node:assert/strict";
import { asSuperuser } from "../_superuser.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

/** Calls at once. */
const CALLS = 64;

describe("a gateway with three connections", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ settings: { SEALOOP_DB_POOL: "3" } });
  });
  after(() => gateway?.stop());

  it("answers many calls at once, with no more connections than that and one session", async () => {
    const key = await gateway.key({ tier: "admin" });
    const { stop, most } = watchConnections();
    const answers = await Promise.all(Array.from({ length: CALLS }, async (_, n) => {
      const { status, body } = await gateway.call(key, "POST", "/v1/itsm/tickets", {
        title: `It jams ${n}`,
      });
      assert.equal(status, 200, JSON.stringify(body));
      const path = `/v1/itsm/tickets/${body.ticket_id}`;
      return await Promise.all([
        gateway.call(key, "GET", path),
        gateway.call(key, "POST", `${path}/close`, { resolution: "Turned it off and on" }),
        gateway.call(key, "GET", "/v1/status"),
      ]);
    }));
    assert.deepEqual(answers.flat().filter(({ status }) => status !== 200), []);
    await stop();
    assert.ok(most() >= 2 && most() <= 3 + 1, `${most()} connections`);
  });

  /** Counts the gateway's connections again and again. */
  function watchConnections() {
    let most = 0;
    let isOver = false;
    const counting = (async () => {
      while (!isOver) {
        const row = await asSuperuser(gateway.platform.store).first<{ count: number }>(
          `SELECT count(*)::int AS count FROM pg_stat_activity
           WHERE datname = current_database() AND usename = 'sealoop_gateway'`,
        );
        most = Math.max(most, row!.count);
      }
    })();
    return {
      most: () => most,
      async stop() {
        isOver = true;
        await counting;
      },
    };
  }
});
