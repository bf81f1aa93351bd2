import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { openSpanRecorder } from "../../calls/mod.ts";
import { createProbes, openViews } from "../../operations/integrations/views/mod.ts";
import { openSpanExporter } from "../../integrations/observability/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { addTicketEvents, openTicket } from "../../store/incidents/mod.ts";
import { exportSpans, getSpanExport, pruneSpans } from "../../store/platform/mod.ts";
import { asSuperuser } from "../_superuser.ts";
import { eventually } from "../_time.ts";
import { partialSuccess, startCollector } from "./_collector.ts";
import { callTool } from "./_call_tool.ts";
import { type Answer, startGateway, type TestGateway } from "./_gateway.ts";

const SUMMARY = "/v1/integrations/observability/summary";

describe("traces", () => {
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let gateway: TestGateway;
  let worker: Store;
  let key: string;
  before(async () => {
    collector = await startCollector();
    gateway = await startGateway({
      settings: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: "x-scope=a%20b",
        OTEL_EXPORTER_OTLP_TIMEOUT: "60000",
        OTEL_RESOURCE_ATTRIBUTES: "host.name=test",
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
        SEALOOP_CREDENTIALS: JSON.stringify({ otlp: "Bearer of-the-collector" }),
        SEALOOP_LIMIT_PARTNER: "1000000",
        SEALOOP_LIMIT_TOOLS: "1000000",
      },
    });
    worker = openStore(gateway.urls.worker, "worker", 2);
    key = await gateway.key();
  });
  after(async () => {
    await worker.close();
    await gateway.stop();
    await collector.close();
  });

  const summary = async (query: string, credential = key): Promise<Answer["body"]> => {
    const headers = credential ? { "x-api-key": credential } : undefined;
    const response = await fetch(`${gateway.url}${SUMMARY}${query}`, { headers });
    assert.equal(response.status, 200);
    return await response.json();
  };
  /** Spans are stored soon after a call. */
  const spansOf = async (query: string, length = 1): Promise<Answer["body"][]> => {
    let spans: Answer["body"][] = [];
    await eventually(async () => {
      ({ spans } = await summary(query));
      return spans.length >= length ? true : undefined;
    });
    return spans;
  };
  const tool = (name: string, input = {}, credential = key): Promise<Answer["body"]> =>
    callTool(gateway.platform, credential, name, input);
  /** Exports what was stored until now, by a gateway whose clock is a minute behind. */
  const exportAll = async (exporter = openSpanExporter(gateway.platform.config)!) => {
    await asSuperuser(worker).execute(
      "UPDATE span_export SET exported_through = exported_through - interval '10 seconds'",
    );
    for (
      const [table, column, time] of [
        ["spans", "stored_at", "10 seconds"],
        ["spans", "ended_at", "1 minute"],
        ["spans", "started_at", "1 minute"],
        ["model_uses", "ended_at", "10 seconds"],
        ["ticket_events", "at", "10 seconds"],
      ]
    ) {
      await asSuperuser(worker).execute(
        `UPDATE ${table} SET ${column} = ${column} - interval '${time}'`,
      );
    }
    return await exportSpans(worker.asPlatform(), 500, exporter.send);
  };

  it("are found by the receipt of their call, by its own tenant alone", async () => {
    const response = await fetch(`${gateway.url}/v1/itsm/tickets/INC-000000000000/close`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ resolution: "The printer was replaced" }),
    });
    const receipt = response.headers.get("x-receipt-id")!;
    const [span] = await spansOf(`?receipt_id=${receipt}`);
    assert.deepEqual([span.kind, span.name, span.door, span.error, span.parent_id], [
      "call",
      "tickets.close",
      "rest",
      "NotFound",
      null,
    ]);
    assert.equal(span.receipt_id, receipt);
    assert.deepEqual((await summary(`?trace_id=${span.trace_id}`)).spans, [span]);
    const stranger = await gateway.key({ tenant: "another" });
    assert.deepEqual((await summary(`?receipt_id=${receipt}`, stranger)).spans, []);
    assert.deepEqual((await summary(`?receipt_id=${receipt}`, "")).spans, []);
  });

  it("are stored with their receipt, which commits to the texts", async () => {
    const secret = "sk-ant-api03-" + "a1B2".repeat(12);
    const answer = await tool("observability_trace", {
      input: `Use ${secret}: what does ENOSPC mean?`,
      output: "No space is left.",
      model: "gpt-5.4-mini",
      metadata: {
        provider: "openai",
        input_tokens: 14,
        output_tokens: 15,
        duration_ms: 820,
        by: "Kim",
      },
    });
    assert.equal(answer.exported, true);
    const spans = await spansOf(`?receipt_id=${answer.receipt_id}`);
    const span = spans.find(({ kind }) => kind === "reported");
    assert.deepEqual(
      [span.trace_id, span.kind, span.model, span.input_tokens, span.duration_ms],
      [answer.trace_id, "reported", "gpt-5.4-mini", 14, 820],
    );
    const row = await gateway.platform.store.db.first(
      "SELECT payload FROM seal_outbox WHERE id = $1",
      [answer.receipt_id],
    );
    const receipt = JSON.parse(row!.payload);
    assert.deepEqual(Object.keys(receipt.details.commitments).sort(), [
      "input",
      "metadata",
      "model",
      "output",
    ]);
    assert.equal(receipt.details.trace_id, answer.trace_id);
    for (const word of ["ENOSPC", "space", "Kim", "gpt"]) assert.ok(!row!.payload.includes(word));
    const evidence = JSON.stringify(
      await asSuperuser(worker).query("SELECT content FROM evidence"),
    );
    assert.match(evidence, /what does ENOSPC mean/);
    assert.ok(!evidence.includes(secret));

    const sent = collector.spans.find(({ traceId }) => traceId === answer.trace_id)!;
    assert.equal(sent.name, "chat gpt-5.4-mini");
    assert.equal(sent.durationMs, 820);
    const { attributes } = sent;
    assert.equal(attributes["gen_ai.operation.name"], "chat");
    assert.equal(attributes["gen_ai.provider.name"], "openai");
    assert.equal(attributes["gen_ai.usage.input_tokens"], 14);
    assert.equal(attributes["sealoop.receipt_id"], answer.receipt_id);
    assert.match(String(attributes["gen_ai.output.messages"]), /No space is left/);
    assert.ok(!JSON.stringify(sent).includes(secret));
    assert.deepEqual(sent.resource, {
      "host.name": "test",
      "service.name": "sealoop",
      "deployment.environment.name": "production",
    });
    const headers = collector.requests.at(-1)!;
    assert.equal(headers.authorization, "Bearer of-the-collector");
    assert.equal(headers["x-scope"], "a b");
    assert.equal(headers["content-type"], "application/x-protobuf");
  });

  it("refuses names that are none, and spans of wrong ids", async () => {
    const ask = (fields: object) =>
      tool("observability_trace", { input: "", output: "", model: "m", ...fields });
    await assert.rejects(ask({ model: "a model\n" }), /model/);
    await assert.rejects(ask({ metadata: { trace_id: "1" } }), /trace_id/);
    await assert.rejects(ask({ metadata: { input_tokens: -1 } }), /input_tokens/);
  });

  it("have the model as a child of its call, and steps as children of their loop", async () => {
    const { store } = gateway.platform;
    const decision = `GOV-${randomBytes(6).toString("hex")}`;
    await asSuperuser(store).execute(
      `INSERT INTO model_uses (id, key_id, decision_id, receipt_id, provider, model, state, outcome, reserved_tokens,
         input_tokens, output_tokens, cost_micro, at, ended_at, expires_at)
       VALUES ('MDL-1', 'k', $1, 'model-receipt', 'anthropic', 'claude', 'settled', 'answered', 9, 5, 2, 7,
         now() - interval '2 seconds', now(), now())`,
      [decision],
    );
    const [model] = await spansOf("?receipt_id=model-receipt");
    assert.deepEqual([model.kind, model.parent_id !== null, model.cost_micro], ["model", true, 7]);

    const run = "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10";
    await openTicket(store.db, {
      id: "INC-1",
      title: "Disk",
      description: "",
      severity: "low",
      phase: "detected",
      service: null,
      fingerprint: null,
      workflowId: "loop-1",
      runId: run,
      requestedBy: "schedule",
    });
    await addTicketEvents(store.db, "INC-1", [
      { key: `${run}/detected`, kind: "detected", phase: "detected" },
      { key: `${run}/ticketed`, kind: "opened", phase: "ticketed" },
      {
        key: `${run}/ended`,
        kind: "escalated",
        phase: "sealed",
        data: { receipt_id: "loop-receipt" },
      },
    ]);
    const loop = await spansOf("?workflow_id=loop-1", 3);
    const root = loop.find(({ kind }) => kind === "loop");
    assert.deepEqual([root.error, root.receipt_id, root.run_id], [
      "escalated",
      "loop-receipt",
      run,
    ]);
    const steps = loop.filter(({ kind }) => kind === "step");
    assert.deepEqual(steps.map(({ name }) => name).sort(), ["detected", "ticketed"]);
    assert.ok(steps.every(({ parent_id }) => parent_id === root.span_id));
    assert.deepEqual((await summary("?receipt_id=loop-receipt")).spans, loop);
  });

  it("are exported once, also those of models and loops, without tenants, keys and people", async () => {
    collector.spans.length = 0;
    await gateway.call(key, "GET", "/v1/itsm/dashboard");
    assert.ok(await exportAll() >= 5);
    const kinds = new Set(collector.spans.map(({ attributes }) => attributes["sealoop.kind"]));
    assert.deepEqual([...kinds].sort(), ["call", "loop", "model", "step"]);
    const ids = collector.spans.map(({ spanId }) => spanId);
    assert.equal(new Set(ids).size, ids.length);
    const text = JSON.stringify(collector.spans);
    for (const word of ["platform", "another", "printer", key]) {
      assert.ok(!text.includes(word), word);
    }
    assert.ok(
      !collector.spans.some(({ attributes }) => attributes["gen_ai.input.messages"]),
      "texts go with the first attempt alone",
    );
  });

  const failures: readonly [string, (response: ServerResponse) => void, RegExp, boolean | null][] =
    [
      ["a wrong credential", (r) => r.writeHead(401).end(), /accept our credential \(401\)/, false],
      ["403", (r) => r.writeHead(403).end(), /accept our credential \(403\)/, false],
      ["500", (r) => r.writeHead(500).end(), /answered 500/, null],
      ["no answer", () => {}, /did not answer in time/, null],
      [
        "a redirect",
        (r) => r.writeHead(307, { location: "http://10.0.0.1/" }).end(),
        /redirects/,
        false,
      ],
      [
        "a cut-off answer",
        (r) => {
          r.writeHead(200, { "content-length": "100" }).write("x");
          setTimeout(() => r.destroy(), 20);
        },
        /./,
        null,
      ],
      [
        "an answer of 10 MB",
        (r) => r.writeHead(200).end(Buffer.alloc(10_000_000)),
        /too large/,
        null,
      ],
      [
        "a limit",
        (r) => r.writeHead(429, { "retry-after": "7" }).end(),
        /limits our requests, and wants 7 s/,
        false,
      ],
    ];
  for (const [name, reply, message, exported] of failures) {
    it(`are kept where the collector fails with ${name}`, async () => {
      collector.answer((_, response) => reply(response));
      const { config } = gateway.platform;
      const timeoutMs = message.source.includes("in time") ? 500 : 60_000;
      const settings = { ...config.settings, OTEL_EXPORTER_OTLP_TIMEOUT: timeoutMs };
      const openExporter = () => openSpanExporter({ ...config, settings })!;
      const platform = { ...gateway.platform, exporter: openExporter() };
      const input = { input: "a", output: "b", model: "m" };
      const answer = await callTool(platform, key, "observability_trace", input);
      assert.equal(answer.exported, exported);
      assert.equal(await exportAll(openExporter()), 0);
      const { lastError } = await getSpanExport(gateway.platform.store.asPlatform());
      assert.match(lastError!, message);
      assert.ok(!lastError!.includes("127.0.0.1") && !lastError!.includes("of-the-collector"));
      collector.answer(undefined);
      collector.spans.length = 0;
      await exportAll();
      const { trace_id } = answer;
      assert.ok(
        collector.spans.some(({ traceId }) => traceId === trace_id),
        "sent when it is back",
      );
    });
  }

  /** Has the collector refuse a span for good. @returns the answer to the call that stored it */
  async function beRefused() {
    collector.answer((_, response) => response.writeHead(200).end(partialSuccess(1)));
    const answer = await tool("observability_trace", { input: "", output: "", model: "m" });
    while (await exportAll() === 0) await sleep(20); // the call's own span is stored after its answer
    return answer;
  }

  it("are not sent again where the collector refuses them for good", async () => {
    const { exported, trace_id } = await beRefused();
    assert.equal(exported, false);
    const { lastError } = await getSpanExport(gateway.platform.store.asPlatform());
    assert.match(lastError!, /The collector refused 1 of \d+ spans/);
    collector.answer(undefined);
    collector.spans.length = 0;
    await exportAll();
    assert.ok(!collector.spans.some(({ traceId }) => traceId === trace_id));
  });

  it("are counted for everybody, and the view says that the collector refused", async () => {
    await beRefused();
    const anyone = await summary("", "");
    assert.deepEqual([anyone.mode, anyone.tokens, anyone.cost_micro], ["built_in", null, null]);
    assert.ok(anyone.traces_24h > 0);
    const { mode } = await summary("");
    const { store, views: _, ...parts } = gateway.platform;
    const spans = openSpanRecorder(store.asPlatform());
    const probes = createProbes({ ...parts, store, spans, langfuse: undefined });
    const { status, detail } = await openViews(store.asPlatform(), probes, parts.log).view(
      "observability",
      { caller: { keyId: "op" }, store },
    );
    assert.deepEqual([mode, status], ["remote", "down"]);
    assert.match(detail, /refused 1 of \d+ spans; spans are kept here/);
    const { traces, errors, tokens, costMicro, p50Ms, p95Ms } = await spans.figures(store.db);
    assert.deepEqual([tokens, costMicro], [36, 7]);
    assert.ok(traces > 5 && errors >= 2 && p50Ms! > 0 && p95Ms! >= p50Ms!);
    const admin = await gateway.key({ tier: "admin" });
    const { body } = await gateway.call(admin, "GET", "/v1/admin/integrations");
    const one = body.integrations.find(({ integration }: Answer["body"]) =>
      integration === "observability"
    );
    assert.deepEqual([one.configured, one.host, one.credential_set], [
      true,
      new URL(collector.url).host,
      true,
    ]);
  });

  it("are deleted after their days", async () => {
    await asSuperuser(gateway.platform.store).execute(
      "UPDATE spans SET ended_at = now() - interval '8 days' WHERE kind = 'reported'",
    );
    await pruneSpans(worker.asPlatform(), 7);
    const left = await asSuperuser(worker).query("SELECT DISTINCT kind FROM spans");
    assert.deepEqual(left, [{ kind: "call" }]);
  });

  it("are added to a trace of the tenant's own, and never to another's", async () => {
    const ask = async (trace_id: string, credential = key) =>
      (await tool("observability_trace", {
        input: "",
        output: "",
        model: "m",
        metadata: { trace_id },
      }, credential)).trace_id;
    const theirs = await ask("ab".repeat(16));
    assert.notEqual(theirs, "ab".repeat(16));
    assert.equal(await ask("ab".repeat(16)), theirs);
    assert.equal(await ask(theirs), theirs);
    assert.notEqual(await ask(theirs, await gateway.key({ tenant: "another" })), theirs);
  });
});
