/**
 * Payloads that are authenticated, and without private text: each has a MAC, and the text stands in the database, while
 * Temporal has its id.
 */
import { asyncLocalStorage } from "@temporalio/activity";
import type { Payload, PayloadCodec, SerializationContext } from "@temporalio/common";
import {
  type Envelope,
  ENVELOPE_MARK,
  PLATFORM_TENANT,
  refusePayload,
  UNAUTHENTICATED,
} from "../../contract/domain/mod.ts";
import { mayReadSecret, type Store } from "../../store/mod.ts";
import { encode, isJson, parseJson, textOf, toJson } from "./_bytes.ts";
import { openMacs } from "./_macs.ts";
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
const FOREIGN = "Cannot read a payload: the platform has not made it for this place";

/** Tenants of the running activities, by their context. */
const activityTenants = new WeakMap<object, string>();

/** Notes in whose name the running activity works: what it throws belongs to that tenant. */
export function noteActivityTenant(tenant: string): void {
  const activity = asyncLocalStorage.getStore();
  if (activity) activityTenants.set(activity, tenant);
}

/**
 * Returns the codec of clients that work in the name of the store's tenant: they read no other tenant's texts, and throw
 * where a payload is not the platform's.
 */
export function clientCodec(store: Store): PayloadCodec {
  return payloadCodec(store, () => store.tenant, () => {
    throw Object.assign(new Error(FOREIGN), { name: UNAUTHENTICATED });
  });
}

/**
 * Returns the codec of workers, which serve all tenants: workflows mark their payloads, activities say whose they are. A
 * payload that is not the platform's becomes a value that says so, which the doors of workflows and activities refuse: a
 * codec that threw would have the run tried again for ever. It waits while the database is away, as the SDK would end the
 * worker for an error.
 *
 * @param signal ends the waiting
 */
export function workerCodec(store: Store, signal?: AbortSignal): PayloadCodec {
  const ownerOf = (mark: string | undefined) => {
    const activity = asyncLocalStorage.getStore();
    return mark ?? (activity && activityTenants.get(activity)) ?? PLATFORM_TENANT;
  };
  const codec = payloadCodec(store, ownerOf, () => toJson(refusePayload(FOREIGN)));
  return {
    encode: (payloads, context) => waitForDatabase(() => codec.encode(payloads, context), signal),
    decode: (payloads, context) => waitForDatabase(() => codec.decode(payloads, context), signal),
  };
}

/**
 * Returns the envelope in a payload of a history, with its private texts left out.
 *
 * @returns undefined: it is none of the platform's
 */
export async function readEnvelope(
  store: Store,
  payload: Payload | undefined,
): Promise<Envelope | undefined> {
  return payload && await openMacs(store).openEnvelope(payload);
}

/**
 * @param ownerOf returns the tenant of a payload, from its mark if it has one
 * @param refuse returns what stands in the place of a payload that is not the platform's, or throws
 */
function payloadCodec(
  store: Store,
  ownerOf: (mark: string | undefined) => string,
  refuse: () => Payload,
): PayloadCodec {
  const macs = openMacs(store);
  const textsOf = (tenant: string) => openPrivateTexts(store.forTenant(tenant));
  /** False: the process has no right to private texts, and its payloads have none. The sequencer's are ids and hashes. */
  const keepsTexts = mayReadSecret(store.role, "private_texts");

  async function encodeOne(payload: Payload, context?: SerializationContext): Promise<Payload> {
    const { [TENANT]: mark, [ENVELOPE_MARK]: isEnvelope, ...metadata } = payload.metadata ?? {};
    if (isEnvelope) {
      const envelope = parseJson(payload) as Envelope;
      const args = await replaceTexts(envelope.args, () => envelope.tenant);
      return toJson(await macs.signEnvelope({ ...envelope, args: args.values }));
    }
    const bare = { ...payload, metadata };
    if (!isJson(bare)) return await macs.signValue(bare, context);
    const { values: [value], tenant } = await replaceTexts(
      [parseJson(bare)],
      () => ownerOf(textOf(mark)),
    );
    if (tenant !== undefined) metadata[TENANT] = encode(tenant);
    return await macs.signValue({ metadata, data: toJson(value).data }, context);
  }

  /** @returns the values with references, and the tenant that the texts were stored for, if there are any */
  async function replaceTexts(values: readonly unknown[], owner: () => string) {
    if (!keepsTexts) return { values };
    const parts: PrivatePart[] = [];
    const replaced = values.map((value) => replacePrivateParts(value, parts));
    if (parts.length === 0) return { values };
    const tenant = owner();
    const ids = await textsOf(tenant).keep(parts.map(({ text }) => text));
    parts.forEach(({ reference }, at) => reference.$private = ids[at]!);
    return { values: replaced, tenant };
  }

  async function decodeOne(payload: Payload, context?: SerializationContext): Promise<Payload> {
    const envelope = await macs.openEnvelope(payload);
    if (envelope) {
      const args = await restoreTexts(envelope.args, () => ownerOf(envelope.tenant));
      return toJson({ ...envelope, args });
    }
    const value = await macs.openValue(payload, context);
    if (!value) return refuse();
    const mark = textOf(value.metadata?.[TENANT]);
    if (mark === undefined) return value;
    // The mark stays, so that a failure which is thrown on belongs to the same tenant.
    const restored = await restoreTexts(parseJson(value), () => ownerOf(mark));
    return { ...value, data: toJson(restored).data };
  }

  async function restoreTexts(value: unknown, owner: () => string): Promise<unknown> {
    const ids = listReferences(value);
    if (ids.length === 0) return value;
    return restorePrivateParts(value, await textsOf(owner()).read(ids));
  }

  return {
    encode: (payloads, context) => Promise.all(payloads.map((one) => encodeOne(one, context))),
    decode: (payloads, context) => Promise.all(payloads.map((one) => decodeOne(one, context))),
  };
}
