import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { canonicalize } from "../../ledger/mod.ts";
import { ensureSecondsLeftInDay } from "../_time.ts";
import { type JudgedGateway, startJudgedGateway } from "./_judged.ts";
import { asSuperuser } from "../_superuser.ts";

const REPORT = "Payroll of the Müller branch: writes to db01 fail, no space left on device";

interface Answer {
  classification: { category: string; severity: string; citations: { id: string }[] } | null;
  rag_context: { passages: { id: string; kind: string }[] } | null;
  provider: string | null;
  elapsed_seconds: number | null;
  proof: Record<string, string> & { hash_chained: boolean; ots_attested: boolean };
}

describe("POST /v1/classify", () => {
  let gateway: JudgedGateway;

  before(async () => {
    gateway = await startJudgedGateway({ SEALOOP_LIMIT_CLASSIFY_PARTNER: "12" });
  });
  after(() => gateway?.stop());

  const post = (body: unknown, key?: string) => gateway.post("/v1/classify", body, key);

  async function classified(body: unknown, key?: string): Promise<Answer> {
    const answer = await post(body, key);
    assert.equal(answer.status, 200);
    return await answer.json() as Answer;
  }

  it("gives a verdict with what it rests on, and a proof that can be computed again", async () => {
    const { classification, rag_context, provider, elapsed_seconds, proof } = await classified({
      description: REPORT,
    });
    assert.equal(classification?.category, "storage");
    const known = rag_context!.passages.map(({ id }) => id);
    assert.ok(classification!.citations.length > 0);
    assert.ok(classification!.citations.every(({ id }) => known.includes(id)));
    assert.equal(provider, "local");
    assert.ok(elapsed_seconds! >= 0);
    const { timestamp, nonce } = proof;
    const hashed = { description: REPORT, source: "api", classification, timestamp, nonce };
    const hash = createHash("sha256").update(canonicalize(hashed)).digest("hex");
    assert.equal(proof.receipt_hash, hash);
    assert.equal(proof.receipt_id, hash.slice(0, 16));
    assert.equal(proof.hash_chained, true);
    assert.equal(proof.ots_attested, false);
    assert.equal(proof.verify_url, gateway.platform.urls.ledger);
  });

  it("seals codes, ids and commitments, and nothing of what the report says", async () => {
    const { proof } = await classified({ description: REPORT, source: "nagios.müller.example" });
    const record = await gateway.sealed(proof.receipt_id!);
    const details = record.details as Record<string, unknown>;
    assert.equal(record.category, "api_classification");
    assert.equal(record.subject, `classify-${proof.receipt_hash!.slice(0, 12)}`);
    assert.equal(record.outcome, "classified");
    assert.equal(details.receipt_hash, proof.receipt_hash);
    assert.equal((details.classification as Record<string, unknown>).category, "storage");
    assert.doesNotMatch(JSON.stringify(record), /payroll|müller|\bdb01\b|nagios/i);
    const evidence = await asSuperuser(gateway.platform.store).first(
      "SELECT content FROM evidence WHERE receipt_id = $1",
      [proof.receipt_id],
    );
    const hash = createHash("sha256").update(evidence!.content).digest("hex");
    assert.equal(hash, proof.receipt_hash, "an auditor finds the very text that was hashed");
  });

  it("answers nulls and seals all the same while the engine is away, and then with a verdict again", async () => {
    const key = await gateway.key();
    await gateway.engine.kill();
    const { proof, ...rest } = await classified({ description: REPORT }, key);
    assert.deepEqual(rest, {
      classification: null,
      rag_context: null,
      provider: null,
      elapsed_seconds: null,
    });
    const record = await gateway.sealed(proof.receipt_id!);
    assert.equal(record.category, "api_classification");
    assert.equal(record.outcome, "engine_unavailable");
    await gateway.engine.start();
    assert.equal((await classified({ description: REPORT }, key)).provider, "local");
  });

  it("counts characters, not UTF-16 units, and refuses what is too short or too long", async () => {
    const key = await gateway.key({ tier: "enterprise" });
    assert.equal((await post({ description: "🔥".repeat(2000) }, key)).status, 200);
    for (const description of ["🔥".repeat(2001), "123456789", 42, undefined]) {
      const answer = await post({ description }, key);
      assert.equal(answer.status, 422, String(description).slice(0, 20));
      const { detail } = await answer.json() as { detail: { loc: string[] }[] };
      assert.deepEqual(detail[0]!.loc, ["body", "description"]);
    }
  });

  it("allows as many a day as the tier has, and refuses the next with Retry-After", async () => {
    await ensureSecondsLeftInDay(120);
    const key = await gateway.key();
    for (let i = 0; i < 12; i++) {
      assert.equal((await post({ description: REPORT }, key)).status, 200);
    }
    assert.equal((await post({ description: "short" }, key)).status, 422);
    const refused = await post({ description: REPORT }, key);
    assert.equal(refused.status, 429);
    assert.deepEqual(await refused.json(), { detail: "Rate limit exceeded (12/day)" });
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
  });
});
