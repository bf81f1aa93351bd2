import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { BadSetting, loadConfig } from "../../../config.ts";
import {
  collectorUrl,
  type ExportedSpan,
  openLangfuse,
  openSpanExporter,
} from "../../../integrations/observability/mod.ts";

const KEYS = "pk-lf-1:sk-lf-2";
const BASIC = `Basic ${Buffer.from(KEYS).toString("base64")}`;
const span: ExportedSpan = {
  traceId: "00000000000000000000400000000000",
  spanId: "9d0a3c5e7f1b2846",
  parentId: null,
  kind: "call",
  name: "a.b",
  door: "rest",
  error: null,
  startedAt: new Date(0),
  endedAt: new Date(5),
  provider: null,
  model: null,
  inputTokens: null,
  outputTokens: null,
  costMicro: null,
  receiptId: null,
  workflowId: null,
  runId: null,
};

describe("the remote form of observability", () => {
  let server: Server;
  let url: string;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let seen: IncomingMessage[];
  before(async () => {
    server = createServer((request, response) => {
      seen.push(request);
      answer(request, response);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  });
  beforeEach(() => {
    seen = [];
    answer = (request, response) => {
      const body = request.url!.endsWith("/health")
        ? { status: "OK", version: "3.140.0" }
        : { data: [{ id: "p", name: "ours" }] };
      const isKnown = request.url!.endsWith("/health") || request.headers.authorization === BASIC;
      response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" })
        .end(JSON.stringify(isKnown ? body : { message: "Invalid credentials" }));
    };
  });
  after(() => server.close());

  const config = (settings: Readonly<Record<string, string>> = {}) =>
    loadConfig({
      SEALOOP_LANGFUSE_URL: url,
      SEALOOP_CREDENTIALS: JSON.stringify({ langfuse: KEYS }),
      ...settings,
    });

  it("checks a Langfuse's health and our keys by its public API", async () => {
    assert.equal(await openLangfuse(config())!.check(), "3.140.0");
    assert.deepEqual(seen.map(({ url }) => url).sort(), [
      "/api/public/health",
      "/api/public/projects",
    ]);
  });

  it("says that keys are wrong, that it is ill, or that it is something else", async () => {
    const other = JSON.stringify({ langfuse: "pk:other" });
    await assert.rejects(
      openLangfuse(config({ SEALOOP_CREDENTIALS: other }))!.check(),
      /^RemoteFailed: Langfuse does not accept our credential \(401\)$|Langfuse does not accept/,
    );
    answer = (_, response) => response.writeHead(503).end("{}");
    await assert.rejects(openLangfuse(config())!.check(), /Langfuse answered 503/);
    answer = (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>");
    await assert.rejects(openLangfuse(config())!.check(), /an answer that is not JSON/);
  });

  it("exports to the Langfuse where no other collector is set, with its keys", async () => {
    answer = (_, response) => response.writeHead(200).end();
    assert.equal(await openSpanExporter(config())!.send([span]), 0);
    assert.equal(seen[0]!.url, "/api/public/otel/v1/traces");
    assert.equal(seen[0]!.headers.authorization, BASIC);
    const both = config({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/custom?a=1` });
    assert.equal(await openSpanExporter(both)!.send([span]), 0);
    assert.equal(seen[1]!.url, "/custom?a=1");
    assert.equal(seen[1]!.headers.authorization, undefined, "keys go to their own system alone");
  });

  it("exports nothing where a variable says so, and the part of traces that the sampler takes", async () => {
    answer = (_, response) => response.writeHead(200).end();
    for (const off of ["OTEL_SDK_DISABLED=true", "OTEL_TRACES_EXPORTER=none"]) {
      const settings = config(Object.fromEntries([off.split("=")]));
      assert.equal(collectorUrl(settings), undefined);
      assert.equal(openSpanExporter(settings), undefined);
    }
    const sampler = (name: string, arg: string) =>
      openSpanExporter(config({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg }))!;
    await sampler("always_off", "1").send([span]);
    await sampler("traceidratio", "0.2").send([span]); // its id lies at a quarter
    assert.equal(seen.length, 0);
    await sampler("parentbased_traceidratio", "0.3").send([span]);
    assert.equal(seen.length, 1);
  });

  it("refuses variables that it can't follow, without their values", () => {
    const message = (settings: Readonly<Record<string, string>>) => {
      try {
        loadConfig(settings);
        return "";
      } catch (error) {
        assert.ok(error instanceof BadSetting);
        return error.message;
      }
    };
    assert.match(message({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }), /http\/protobuf/);
    assert.match(message({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.example" }), /https/);
    const wrong = message({ OTEL_EXPORTER_OTLP_HEADERS: "secret-of-ours%0d%0a" });
    assert.match(wrong, /OTEL_EXPORTER_OTLP_HEADERS: Expected name=value pairs/);
    assert.ok(!wrong.includes("secret-of-ours"));
    assert.equal(message({ OTEL_LOG_LEVEL: "debug" }), "", "others are not ours to refuse");
  });
});
