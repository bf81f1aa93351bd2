import { timingSafeEqual } from "node:crypto";
import type { Payload, SerializationContext } from "@temporalio/common";
import { type Envelope, isEnvelope } from "../../contract/domain/mod.ts";
import { keyedHash, type Store } from "../../store/mod.ts";
import { base64, encode, isJson, parseJson, textOf } from "./_bytes.ts";

/** An envelope as Temporal keeps it. Its MAC is in the JSON, since the Web UI copies nothing else into a new start. */
type SignedEnvelope = Envelope & { readonly mac: string };

/** Makes and checks the MACs of what Temporal keeps, by a secret that the platform's processes alone have. */
export interface Macs {
  signEnvelope(envelope: Envelope): Promise<SignedEnvelope>;
  /** Returns the envelope in a payload, without its MAC; undefined: it was not signed as one. */
  openEnvelope(payload: Payload): Promise<Envelope | undefined>;
  signValue(payload: Payload, context: SerializationContext | undefined): Promise<Payload>;
  /** Returns a value without its MAC; undefined: it was not signed, or for another workflow. */
  openValue(
    payload: Payload,
    context: SerializationContext | undefined,
  ): Promise<Payload | undefined>;
}

/** Metadata of a value: its MAC. */
const MAC = "mac";
/** The end of the ids of runs that a schedule starts. What it starts them with was made before they had one. */
const SCHEDULED_AT = /-\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

/** Opens the MACs of the store's database. Its secret is read once a process. */
export function openMacs(store: Store): Macs {
  const hash = async (...parts: string[]) =>
    (await keyedHash(store, "temporal_payloads", ...parts)).toString("base64url");

  /** Holds for the JSON, in whatever way that is laid out. */
  const hashEnvelope = (envelope: Envelope) => hash("envelope", JSON.stringify(envelope));

  /** Holds for data and metadata, and for the workflow that the value is a part of. */
  const hashValue = ({ metadata, data }: Payload, context: SerializationContext | undefined) => {
    const entries = Object.entries(metadata ?? {}).sort()
      .map(([name, bytes]) => [name, base64(bytes)]);
    const of = context?.workflowId?.replace(SCHEDULED_AT, "") ?? "";
    return hash("value", of, JSON.stringify(entries), base64(data));
  };

  return {
    async signEnvelope(envelope) {
      return { ...envelope, mac: await hashEnvelope(envelope) };
    },
    async openEnvelope(payload) {
      if (!isJson(payload)) return undefined;
      const signed = parseJson(payload);
      if (!isEnvelope(signed)) return undefined;
      const { mac, ...envelope } = signed as Envelope & { readonly mac?: unknown };
      return isSame(mac, await hashEnvelope(envelope)) ? envelope : undefined;
    },
    async signValue(payload, context) {
      const mac = encode(await hashValue(payload, context));
      return { ...payload, metadata: { ...payload.metadata, [MAC]: mac } };
    },
    async openValue({ metadata = {}, data }, context) {
      const { [MAC]: mac, ...others } = metadata ?? {};
      const value = { metadata: others, data };
      if (!isSame(textOf(mac), await hashValue(value, context))) return undefined;
      // Only what was signed as an envelope is one, whatever a result may look like.
      return isJson(value) && isEnvelope(parseJson(value)) ? undefined : value;
    },
  };
}

function isSame(given: unknown, right: string): boolean {
  if (typeof given !== "string") return false;
  const [one, other] = [encode(given), encode(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
