/**
 * The messages of OTLP/HTTP that a client of traces needs, with the numbers of their fields.
 *
 * @see https://github.com/open-telemetry/opentelemetry-proto, `trace/v1/trace.proto` and those that it imports
 */
import protobuf from "protobufjs";

type Fields = Readonly<Record<string, readonly [id: number, type: string, rule?: "repeated"]>>;

const message = (fields: Fields) => ({
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, [id, type, rule]]) => [
      name,
      { id, type, ...(rule ? { rule } : {}) },
    ]),
  ),
});

const ROOT = protobuf.Root.fromJSON({
  nested: {
    // A oneof; what is not set is not written.
    AnyValue: message({
      stringValue: [1, "string"],
      boolValue: [2, "bool"],
      intValue: [3, "int64"],
      doubleValue: [4, "double"],
    }),
    KeyValue: message({ key: [1, "string"], value: [2, "AnyValue"] }),
    Resource: message({ attributes: [1, "KeyValue", "repeated"] }),
    Scope: message({ name: [1, "string"], version: [2, "string"] }),
    Status: message({ message: [2, "string"], code: [3, "int32"] }),
    Span: message({
      traceId: [1, "bytes"],
      spanId: [2, "bytes"],
      parentSpanId: [4, "bytes"],
      name: [5, "string"],
      kind: [6, "int32"],
      startTimeUnixNano: [7, "fixed64"],
      endTimeUnixNano: [8, "fixed64"],
      attributes: [9, "KeyValue", "repeated"],
      status: [15, "Status"],
      flags: [16, "fixed32"],
    }),
    ScopeSpans: message({ scope: [1, "Scope"], spans: [2, "Span", "repeated"] }),
    ResourceSpans: message({
      resource: [1, "Resource"],
      scopeSpans: [2, "ScopeSpans", "repeated"],
    }),
    ExportTraceServiceRequest: message({ resourceSpans: [1, "ResourceSpans", "repeated"] }),
    PartialSuccess: message({ rejectedSpans: [1, "int64"], errorMessage: [2, "string"] }),
    ExportTraceServiceResponse: message({ partialSuccess: [1, "PartialSuccess"] }),
  },
});

const Request = ROOT.lookupType("ExportTraceServiceRequest");
const Response = ROOT.lookupType("ExportTraceServiceResponse");

/** Encodes a request. @param request by the names above; numbers of 64 bits as decimal texts */
export function encodeRequest(request: object): Uint8Array {
  return Request.encode(Request.fromObject(request)).finish();
}

/** Returns how many spans a collector says that it has not taken. @throws the bytes are no answer of a collector */
export function countRejected(answer: Uint8Array): number {
  const { partialSuccess } = Response.toObject(Response.decode(answer), { longs: Number });
  return Number(partialSuccess?.rejectedSpans ?? 0);
}
