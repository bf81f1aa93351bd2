/** A collector of OpenTelemetry on loopback, which reads requests by the official definition of their form. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import protobuf from "protobufjs";

/** The part of `opentelemetry/proto/trace/v1/trace.proto`, and of the files it imports, that clients of ours use. */
const PROTO = `syntax = "proto3";
  message AnyValue {
    oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; }
  }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message InstrumentationScope { string name = 1; string version = 2; }
  message Status { reserved 1; string message = 2; int32 code = 3; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
    Status status = 15; fixed32 flags = 16;
  }
  message ScopeSpans { InstrumentationScope scope = 1; repeated Span spans = 2; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
  message ExportTracePartialSuccess { int64 rejected_spans = 1; string error_message = 2; }
  message ExportTraceServiceResponse { ExportTracePartialSuccess partial_success = 1; }`;

const ROOT = protobuf.parse(PROTO).root;
const Request = ROOT.lookupType("ExportTraceServiceRequest");

/** A span as the collector got it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly name: string;
  readonly kind: number;
  readonly durationMs: number;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** Starts one. `answer` replaces its answer to what follows. */
export async function startCollector() {
  const spans: ReceivedSpan[] = [];
  const requests: IncomingHttpHeaders[] = [];
  let answer: RequestListener | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (answer) return void answer(request, response);
    requests.push(request.headers);
    spans.push(...decode(Buffer.concat(chunks)));
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    spans,
    requests,
    answer: (listener: RequestListener | undefined) => void (answer = listener),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Returns the answer of a collector that has refused spans. */
export function partialSuccess(rejected: number): Uint8Array {
  const Response = ROOT.lookupType("ExportTraceServiceResponse");
  return Response.encode({ partialSuccess: { rejectedSpans: rejected } }).finish();
}

// deno-lint-ignore no-explicit-any -- what protobufjs gives
type Message = any;

function decode(bytes: Buffer): ReceivedSpan[] {
  const request: Message = Request.toObject(Request.decode(bytes), {
    longs: String,
    defaults: true,
    arrays: true,
  });
  const values = (attributes: Message[]) =>
    Object.fromEntries(attributes.map(({ key, value }) => {
      const [kind, plain] = Object.entries(value)[0]!;
      return [key, kind === "intValue" ? Number(plain) : plain];
    }));
  return request.resourceSpans.flatMap(({ resource, scopeSpans }: Message) =>
    scopeSpans.flatMap(({ spans }: Message) =>
      spans.map((span: Message) => ({
        traceId: span.traceId.toString("hex"),
        spanId: span.spanId.toString("hex"),
        parentId: span.parentSpanId.toString("hex"),
        name: span.name,
        kind: span.kind,
        durationMs: Number(
          (BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1000000n,
        ),
        isError: span.status?.code === 2,
        attributes: values(span.attributes),
        resource: values(resource.attributes),
      }))
    )
  );
}
