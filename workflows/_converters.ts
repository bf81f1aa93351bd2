/**
 * Conversion of payloads and failures within workflows. The worker's codec moves private text to the database; for that, a
 * payload is marked with the tenant of its run, and a failure's message is a payload, too.
 */
import {
  DefaultFailureConverter,
  defaultPayloadConverter,
  type PayloadConverter,
} from "@temporalio/common";
import { refusePayload } from "../contract/domain/mod.ts";
import { currentTenant } from "./_run.ts";

const MARK = "tenant";
const decoder = new TextDecoder();

/** Marks payloads with the run's tenant, and gives none of another tenant. */
export const payloadConverter: PayloadConverter = {
  toPayload(value, ...rest) {
    const payload = defaultPayloadConverter.toPayload(value, ...rest);
    return { ...payload, metadata: { ...payload.metadata, [MARK]: encode(currentTenant()) } };
  },
  fromPayload(payload, ...rest) {
    const mark = payload.metadata?.[MARK];
    if (mark && decoder.decode(mark) !== currentTenant()) {
      return refusePayload("it belongs to another tenant than this run") as never;
    }
    return defaultPayloadConverter.fromPayload(payload, ...rest);
  },
};

/** Puts messages and stack traces into payloads. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
