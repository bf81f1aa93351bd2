/** Payloads without private text: the text stands in the database, and Temporal has its id. */
import { asyncLocalStorage } from "@temporalio/activity";
import type { Payload, PayloadCodec } from "@temporalio/common";
import { PLATFORM_TENANT } from "../domain/mod.ts";
import type { Store } from "../store/mod.ts";
import { waitForDatabase } from "./_wait_for_database.ts";
import { openPrivateTexts } from "./_private_texts.ts";
import {
  listReferences,
  type PrivatePart,
  replacePrivateParts,
  restorePrivateParts,
} from "./_public_fields.ts";

/** Metadata of a payload whose private parts are stored: the tenant that owns them. Workflows set it, too. */
const TENANT = "tenant";
const JSON_ENCODING = "json/plain";
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Tenants of the running activities, by their context. */
const activityTenants = new WeakMap<object, string>();

/** Notes in whose name the running activity works: its result belongs to that tenant. */
export function noteActivityTenant(tenant: string): void {
  const activity = asyncLocalStorage.getStore();
  if (activity) activityTenants.set(activity, tenant);
}

/** Returns the codec of clients that work in the name of the store's tenant: they read no other tenant's texts. */
export function clientCodec(store: Store): PayloadCodec {
  return payloadCodec(store, () => store.tenant);
}

/**
 * Returns the codec of workers, which serve all tenants: workflows mark their payloads, activities say whose they are.
 * It waits while the database is away, as the SDK would end the worker for an error.
 *
 * @param signal ends the waiting
 */
export function workerCodec(store: Store, signal?: AbortSignal): PayloadCodec {
  const codec = payloadCodec(store, (mark) => {
    const activity = asyncLocalStorage.getStore();
    return mark ?? (activity && activityTenants.get(activity)) ?? PLATFORM_TENANT;
  });
  return {
    encode: (payloads) => waitForDatabase(() => codec.encode(payloads), signal),
    decode: (payloads) => waitForDatabase(() => codec.decode(payloads), signal),
  };
}

/** @param ownerOf returns the tenant of a payload, from its mark if it has one */
function payloadCodec(store: Store, ownerOf: (mark: string | undefined) => string): PayloadCodec {
  const textsOf = (tenant: string) => openPrivateTexts(store.forTenant(tenant));

  async function encode(payload: Payload): Promise<Payload> {
    const { [TENANT]: mark, ...metadata } = payload.metadata ?? {};
    if (textOf(metadata.encoding) !== JSON_ENCODING) return { ...payload, metadata };
    const parts: PrivatePart[] = [];
    const value = replacePrivateParts(JSON.parse(textOf(payload.data)!), parts);
    if (parts.length === 0) return { ...payload, metadata };
    const tenant = ownerOf(textOf(mark));
    const ids = await textsOf(tenant).keep(parts.map(({ text }) => text));
    parts.forEach(({ reference }, at) => reference.$private = ids[at]!);
    return {
      metadata: { ...metadata, [TENANT]: encoder.encode(tenant) },
      data: encoder.encode(JSON.stringify(value)),
    };
  }

  async function decode(payload: Payload): Promise<Payload> {
    const mark = textOf(payload.metadata?.[TENANT]);
    if (mark === undefined) return payload;
    const value = JSON.parse(textOf(payload.data)!);
    const texts = await textsOf(ownerOf(mark)).read(listReferences(value));
    // The mark stays, so that a failure which is thrown on belongs to the same tenant.
    return { ...payload, data: encoder.encode(JSON.stringify(restorePrivateParts(value, texts))) };
  }

  return {
    encode: (payloads) => Promise.all(payloads.map(encode)),
    decode: (payloads) => Promise.all(payloads.map(decode)),
  };
}

function textOf(bytes: Uint8Array | null | undefined): string | undefined {
  return bytes ? decoder.decode(bytes) : undefined;
}
