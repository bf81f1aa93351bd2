import assert from "node:assert/strict";
import { loadConfig } from "../../config.ts";
import { type ExportedSpan, openSpanExporter } from "../../integrations/observability/mod.ts";
import { testFolder } from "../_run.ts";
import { installMlflow, startMlflow } from "./_mlflow.ts";

const TRACE = "4f1d1e0b2a9c4c7c8d0e6b5a49382716";
const endedAt = new Date();
const call: ExportedSpan = {
  traceId: TRACE,
  spanId: "9d0a3c5e7f1b2846",
  parentId: null,
  kind: "call",
  name: "ai.openai",
  door: "mcp",
  error: null,
  startedAt: new Date(endedAt.getTime() - 900),
  endedAt,
  provider: null,
  model: null,
  inputTokens: null,
  outputTokens: null,
  costMicro: null,
  receiptId: "9f2c4b7a01d3e856",
  workflowId: null,
  runId: null,
};
const model: ExportedSpan = {
  ...call,
  spanId: "9d0a3c5e7f1b2847",
  parentId: call.spanId,
  kind: "model",
  name: "chat",
  door: null,
  provider: "openai",
  model: "gpt-5.4-mini",
  inputTokens: 14,
  outputTokens: 15,
};

/** The part of MLflow's answer that the tests look at. */
interface Trace {
  readonly trace_info: {
    readonly state: string;
    readonly execution_duration: string;
    readonly trace_metadata: Readonly<Record<string, string>>;
    readonly tags: Readonly<Record<string, string>>;
  };
  readonly spans: readonly {
    readonly name: string;
    readonly attributes: readonly {
      readonly key: string;
      readonly value: { readonly string_value?: string };
    }[];
  }[];
}

describe("MLflow as a collector", function () {
  this.timeout(900_000);
  let mlflow: Awaited<ReturnType<typeof startMlflow>> | undefined;
  before(async function () {
    const installed = await installMlflow();
    if ("missing" in installed) {
      console.log(`  skipped: ${installed.missing}`);
      return this.skip();
    }
    mlflow = await startMlflow(installed.folder, await testFolder());
  });
  after(() => mlflow?.close());

  const open = () =>
    openSpanExporter(loadConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: mlflow!.url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-mlflow-experiment-id=0",
    }))!;
  const read = async () => {
    const response = await fetch(`${mlflow!.url}/api/3.0/mlflow/traces/get?trace_id=tr-${TRACE}`);
    const { trace } = await response.json() as { trace: Trace };
    return trace;
  };

  it("takes a call and the model that it asked as one trace, with its tokens", async () => {
    assert.equal(await open().send([call, model]), 0);
    const { trace_info, spans } = await read();
    assert.deepEqual([trace_info.state, trace_info.execution_duration], ["OK", "0.900s"]);
    const tokens = JSON.parse(trace_info.trace_metadata["mlflow.trace.tokenUsage"]!);
    assert.deepEqual(tokens, { input_tokens: 14, output_tokens: 15, total_tokens: 29 });
    assert.equal(trace_info.tags["service.name"], "sealoop");
    const kinds = spans.map(({ name, attributes }) => [
      name,
      attributes.find(({ key }) => key === "mlflow.spanType")?.value.string_value,
    ]);
    assert.deepEqual(kinds, [
      ["execute_tool ai.openai", "TOOL"],
      ["chat gpt-5.4-mini", "CHAT_MODEL"],
    ]);
  });

  it("has a span once that was sent twice", async () => {
    await open().send([call, model]);
    assert.equal((await read()).spans.length, 2);
  });
});
