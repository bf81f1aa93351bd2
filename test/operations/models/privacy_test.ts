import assert from "node:assert/strict";
import { asSuperuser } from "../../_superuser.ts";
import { KEY } from "../../judgement/engine/_providers.ts";
import {
  answerText,
  PROVIDERS,
  setModelPolicy,
  startModels,
  type TestModels,
  textOf,
} from "./_models.ts";

describe("private data in prompts and answers", () => {
  let { gateway, providers, ask, stream, receipt } = {} as TestModels;

  before(async () => {
    ({ gateway, providers, ask, stream, receipt } = await startModels());
  });
  after(() => gateway.stop());

  const SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
  const messages = [{ role: "user", content: `Tell anna@example.com of ${SECRET}` }];
  beforeEach(() => setModelPolicy(gateway, {}));

  it("are masked before the provider gets them, and in what it answers", async () => {
    providers.respond((request) => answerText(request, ["To anna@exam", "ple.com: done"]));
    const { body } = await ask("anthropic", { messages });
    assert.equal(body.content, "To [email-1]: done");
    assert.deepEqual(body.redactions, { prompt: { email: 1, secret: 1 }, answer: { email: 1 } });
    assert.match(providers.bodies.at(-1)!, /Tell \[email-1\] of \[secret-1\]/);
    assert.doesNotMatch(providers.bodies.at(-1)!, /ghp_|anna/);
  });

  it("leave a stream masked, wherever it is cut", async () => {
    const filler = "All is well with the service. ".repeat(30);
    const text = `${filler}Use ${SECRET} or write to anna@example.com. ${filler}`;
    for (const provider of PROVIDERS) {
      providers.respond((request) => answerText(request, text.match(/.{1,7}/g)!));
      const events = await stream(provider);
      assert.ok(events.filter(({ event }) => event !== "sealoop").length > 20);
      const expected = text.replace(SECRET, "[secret-1]").replace("anna@example.com", "[email-1]");
      assert.equal(textOf(events), expected);
      assert.doesNotMatch(JSON.stringify(events), /ghp_|anna/);
    }
  });

  it("are blocked where the policy or the caller says so, and nobody can loosen it", async () => {
    const asked = providers.bodies.length;
    const refused = await ask("anthropic", { messages, pii: "block" });
    assert.equal(refused.status, 403);
    assert.match(refused.body.detail, /private data, which may not be sent \(secret|email/);
    await setModelPolicy(gateway, { privacy: { tenants: { platform: "block" } } });
    assert.equal((await ask("anthropic", { messages, pii: "mask" })).status, 403);
    assert.equal(providers.bodies.length, asked);
    providers.respond((request) => answerText(request, [`It is ${SECRET}`]));
    const withheld = await ask("openai", { pii: "mask" });
    assert.equal(withheld.status, 403);
    assert.match(withheld.body.detail, /withheld; it is billed/);
    assert.equal((await receipt(withheld.body.receipt_id)).outcome, "withheld");
    const events = await stream("openai");
    assert.equal(JSON.parse(events.at(-1)!.data).error.type, "Denied");
    assert.doesNotMatch(JSON.stringify(events), /ghp_/);
  });

  it("leave no trace in the log or in what is kept", async () => {
    await ask("anthropic", { messages });
    const db = asSuperuser(gateway.platform.store);
    const kept = await db.query("SELECT content FROM evidence WHERE content ~ 'anna@|ghp_'");
    assert.deepEqual(kept, []);
    assert.doesNotMatch(gateway.log(), new RegExp(`anna@|ghp_|ENOSPC|${KEY}`));
  });
});
