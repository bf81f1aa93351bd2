import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { settleLostUses, waitForModelCalls } from "../../../operations/models/use/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { asSuperuser } from "../../_superuser.ts";
import { eventually } from "../../_time.ts";
import { answerText, setModelPolicy, startModels, type TestModels } from "./_models.ts";

describe("budgets of models", () => {
  let { gateway, providers, ask, post, spent, receipt } = {} as TestModels;

  before(async () => {
    ({ gateway, providers, ask, post, spent, receipt } = await startModels());
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    providers.respond((request) => answerText(request, ["No space ", "is left."]));
    await setModelPolicy(gateway, {});
  });

  it("never exceeds a budget by 200 calls at once, in tokens or in money", async () => {
    for (
      const [calls, budget] of [[200, { tokens: 20_000 }], [60, {
        usd: 0.02,
        tokens: 1e9,
      }]] as const
    ) {
      const own = await gateway.key({ tenant: `tenant-${budget.tokens}` });
      await setModelPolicy(gateway, {
        budgets: { tenants: { [`tenant-${budget.tokens}`]: budget } },
        prices: { anthropic: { "*": { input: 1, output: 1 } } },
      });
      let most = 0;
      providers.respond(async (request) => {
        const [row] = await asSuperuser(gateway.platform.store).query(
          "SELECT tokens, cost_micro FROM model_spending WHERE tenant_id = $1 AND subject = ''",
          [`tenant-${budget.tokens}`],
        );
        most = Math.max(most, Number(row!.tokens));
        answerText(request, ["word"]);
      });
      const answers = await Promise.all(
        Array.from({ length: calls }, () => ask("anthropic", { max_tokens: 900 }, own)),
      );
      const count = (status: number) => answers.filter((one) => one.status === status).length;
      assert.equal(count(200) + count(429), calls);
      assert.ok(count(429) > 0 && count(200) >= 15, `${count(200)}`);
      assert.ok(most <= 20_000 && most > 10_000, `${most}`);
      const [row] = await asSuperuser(gateway.platform.store).query(
        "SELECT tokens, cost_micro FROM model_spending WHERE tenant_id = $1 AND subject = ''",
        [`tenant-${budget.tokens}`],
      );
      assert.deepEqual([Number(row!.tokens), Number(row!.cost_micro)], [
        count(200) * 25,
        count(200) * 25,
      ]);
    }
  });

  it("gives the free tier nothing unless its key has a budget", async () => {
    const free = await gateway.key({ tier: "free" });
    const refused = await ask("ollama", {}, free);
    assert.equal(refused.status, 403);
    assert.match(refused.body.detail, /no budget for models here/);
    const { id } = (await gateway.platform.keyring.find(free, "127.0.0.1"))!;
    await setModelPolicy(gateway, { budgets: { keys: { [id]: { tokens: 5_000 } } } });
    assert.equal((await ask("ollama", {}, free)).status, 200);
  });

  it("counts money where the price is known, and refuses to guess it", async () => {
    const prices = { openai: { known: { input: 2, output: 10 } } };
    await setModelPolicy(gateway, { budgets: { tiers: { partner: { usd: 1 } } }, prices });
    assert.equal((await ask("openai", { model: "known" })).body.cost_micro, 20 * 2 + 5 * 10);
    const unknown = await ask("openai", { model: "unknown" });
    assert.equal(unknown.status, 403);
    assert.match(unknown.body.detail, /its price is not known/);
  });

  it("bills a client that leaves for what was made, and stops the provider", async () => {
    let stopped = false;
    providers.respond(async (request) => {
      const { format, answer } = request;
      answer.on("close", () => void (stopped = !answer.writableFinished));
      answer.writeHead(200, { "content-type": format.type }).write(format.start("m"));
      while (!answer.destroyed) {
        answer.write(format.text("word ".repeat(40)));
        await sleep(10);
      }
    });
    const before = await spent();
    const leaving = new AbortController();
    const response = await post("anthropic", { max_tokens: 50_000 }, { signal: leaving.signal });
    await response.body!.getReader().read();
    leaving.abort();
    const billed = await eventually(async () => {
      const open = await gateway.platform.store.asPlatform().first(
        "SELECT FROM model_uses WHERE state = 'reserved'",
      );
      return open ? undefined : (await spent()).tokens - before.tokens;
    });
    assert.ok(billed > 20 && billed < 50_000, String(billed));
    await eventually(() => Promise.resolve(stopped));
  });

  it("bills what was made where the gateway stops in the middle", async () => {
    const other = await startModels();
    try {
      other.providers.respond(async ({ format, answer }) => {
        answer.writeHead(200, { "content-type": format.type }).write(format.start("m"));
        while (!answer.destroyed) {
          answer.write(format.text("word ".repeat(100)));
          await sleep(10);
        }
      });
      const response = await other.post("ollama", { max_tokens: 50_000 });
      await response.body!.getReader().read();
      await other.gateway.drain(50);
      await waitForModelCalls(120_000);
      const [use] = await other.gateway.platform.store.asPlatform().query(
        "SELECT outcome, output_tokens FROM model_uses",
      );
      assert.equal(use!.outcome, "cancelled");
      assert.ok(Number(use!.output_tokens) > 50 && Number(use!.output_tokens) < 50_000);
    } finally {
      await other.gateway.stop();
    }
  });

  it("bills all of its reserve where the process was killed", async () => {
    providers.respond(() => {});
    const before = await spent();
    const leaving = new AbortController();
    const asked = post("anthropic", {}, { signal: leaving.signal }).catch(() => {});
    const db = asSuperuser(gateway.platform.store);
    const use = await eventually(() =>
      db.first("SELECT id, receipt_id FROM model_uses WHERE state = 'reserved'")
    );
    await db.execute("UPDATE model_uses SET expires_at = now() WHERE id = $1", [use.id]);
    const worker = openStore(gateway.urls.worker, "worker", 1);
    assert.equal(await settleLostUses(worker), 1);
    assert.equal(await settleLostUses(worker), 0);
    await worker.close();
    assert.equal((await receipt(use.receipt_id)).outcome, "unknown");
    const billed = (await spent()).tokens - before.tokens;
    assert.ok(billed > 1_024, String(billed));
    leaving.abort();
    await asked;
    await sleep(300); // the gateway ends the use as well, in vain
    assert.equal((await spent()).tokens - before.tokens, billed);
  });
});
