/** Bytes of payloads, as text and as JSON. */
import type { Payload } from "@temporalio/common";

const JSON_ENCODING = "json/plain";
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Returns the bytes of a text. */
export function encode(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Returns the text of bytes; undefined: there are none. */
export function textOf(bytes: Uint8Array | null | undefined): string | undefined {
  return bytes ? decoder.decode(bytes) : undefined;
}

/** Returns bytes as base64. */
export function base64(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString("base64");
}

/** Returns whether a payload says that it is JSON. */
export function isJson({ metadata }: Payload): boolean {
  return textOf(metadata?.encoding) === JSON_ENCODING;
}

/** Returns the JSON of a payload; undefined: it is none. */
export function parseJson({ data }: Payload): unknown {
  try {
    return JSON.parse(textOf(data) ?? "");
  } catch {
    return undefined;
  }
}

/** Returns a value as a payload of JSON. */
export function toJson(value: unknown): Payload {
  return { metadata: { encoding: encode(JSON_ENCODING) }, data: encode(JSON.stringify(value)) };
}
