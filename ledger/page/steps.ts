import {
  canonicalizeFields,
  type Check,
  type Era,
  NotCanonical,
  type Primitives,
  type TrustedKey,
  verifyRecord,
} from "../rules/mod.ts";

/** One check of a receipt, and what was compared in it. */
export interface Step {
  readonly name: string;
  /** `not_checked`: what it would need is not there; `pending`: there is nothing to check yet. */
  readonly state: Check | "not_checked" | "pending";
  readonly text: string;
  readonly compared: readonly Compared[];
}

/** A value that was compared, and where it comes from. */
export interface Compared {
  readonly label: string;
  readonly value: string;
}

/** What a receipt is checked with. */
export interface Exhibit {
  /** Id that was asked for; undefined: none. */
  readonly asked?: string | undefined;
  readonly position: number;
  readonly record: string;
  /** The records next to it; undefined: it is the first, or the newest, or they are not there. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Checks a receipt, one step after the other. */
export function stepsOf(
  exhibit: Exhibit,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): Step[] {
  const { record, before, position } = exhibit;
  const previous = before === undefined ? undefined : summaryOf(before, position - 1, primitives);
  const place = {
    position,
    previousHash: previous?.hash ?? "",
    previousEra: previous?.era,
  };
  const { verdict, era } = verifyRecord(record, place, keys, primitives);
  const { checks, reasons, verified } = verdict;
  const fields = fieldsOf(record);
  if (!fields) {
    return [{ name: "Record", state: "fail", text: reasons.join("; "), compared: [] }];
  }
  const bytes = bytesOf(text(fields, "canonical_bytes"), primitives);
  const own = { fields, bytes, hash: text(fields, "hash_sha256"), era };
  const told = verified || Object.values(checks).includes("fail");
  return [
    ...identity(exhibit, own),
    ...(told
      ? []
      : [{ name: "Era", state: "fail" as const, text: reasons.join("; "), compared: [] }]),
    hashStep(checks.hash, own, primitives),
    canonicalStep(checks.canonical, own),
    signatureStep(checks.signature, own, primitives),
    linkStep(checks.link, own, previous, exhibit, reasons),
    ...nextStep(exhibit, own),
  ];
}

/** Whether nothing failed, and nothing was left out that could have been checked. */
export function holds(steps: readonly Step[]): boolean {
  return steps.length > 0 &&
    steps.every(({ state }) => state !== "fail" && state !== "not_checked");
}

interface Own {
  readonly fields: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
  readonly hash: string;
  readonly era: Era | undefined;
}

function identity({ asked }: Exhibit, { fields }: Own): Step[] {
  if (asked === undefined) return [];
  const id = text(fields, "id");
  const same = id === asked;
  return [{
    name: "Identity",
    state: same ? "pass" : "fail",
    text: same ? "It is the receipt that was asked for" : "It is another receipt than asked for",
    compared: [{ label: "asked for", value: asked }, { label: "id in the record", value: id }],
  }];
}

function hashStep(state: Check, { bytes, hash, era }: Own, { sha256 }: Primitives): Step {
  const name = "Hash";
  if (state === "not_applicable") {
    const text = `Its era (${era}) hashed something that was not kept, so nothing can be compared`;
    return { name, state, text, compared: [{ label: "hash_sha256", value: hash }] };
  }
  return {
    name,
    state,
    text: state === "pass"
      ? "SHA-256 of the canonical bytes, computed here, is the receipt’s hash"
      : "SHA-256 of the canonical bytes, computed here, is not the receipt’s hash",
    compared: [
      { label: "computed here", value: sha256(bytes) },
      { label: "hash_sha256", value: hash },
    ],
  };
}

function canonicalStep(state: Check, { fields, bytes }: Own): Step {
  const name = "Canonical form";
  if (state === "not_applicable") {
    return { name, state, text: "Era 1 has no canonical bytes", compared: [] };
  }
  return {
    name,
    state,
    text: state === "pass"
      ? "The fields, written in canonical form here, are the receipt’s canonical bytes"
      : "The fields, written in canonical form here, are not the receipt’s canonical bytes",
    compared: [
      { label: "fields", value: [...fields.keys()].join(", ") },
      { label: "canonical bytes", value: `${bytes.length} bytes` },
    ],
  };
}

function signatureStep(state: Check, { fields }: Own, primitives: Primitives): Step {
  const name = "Signature";
  if (state === "not_applicable") {
    return { name, state, text: "Era 1 was not signed", compared: [] };
  }
  const { public_key: key, value } = signatureOf(fields);
  return {
    name,
    state,
    text: state === "pass"
      ? "The Ed25519 signature over the canonical bytes is by the key published for this position"
      : "There is no valid Ed25519 signature over these bytes by the key published for this position",
    compared: [
      { label: "public key", value: key },
      { label: "its SHA-256", value: key && primitives.sha256(bytesOf(key, primitives)) },
      { label: "signature", value },
    ],
  };
}

function linkStep(
  state: Check,
  { fields, era }: Own,
  previous: Previous | undefined,
  { position }: Exhibit,
  reasons: readonly string[],
): Step {
  const name = "Link";
  const stated = { label: "prev_hash", value: text(fields, "prev_hash") || "(empty)" };
  if (position === 0) {
    const good = "It is the first entry, and links to nothing";
    return { name, state, text: state === "pass" ? good : reasons.join("; "), compared: [stated] };
  }
  if (!previous) {
    const missing = `The entry before, #${position - 1}, is not there to compare with`;
    return { name, state: "not_checked", text: missing, compared: [stated] };
  }
  const compared = [stated, { label: `hash of #${position - 1}`, value: previous.hash }];
  if (!previous.hashed) {
    const wrong = `The entry before, #${position - 1}, has not the hash that it claims`;
    return { name, state: "fail", text: wrong, compared };
  }
  const good = era === 3
    ? `It links to #${position - 1}, and the link is signed with it`
    : `It points to #${position - 1}; in era ${era} the link was not signed`;
  const bad = reasons.filter((reason) => /prev_hash|chain_position|era/.test(reason)).join("; ");
  return { name, state, text: state === "pass" ? good : bad || "The link does not hold", compared };
}

/** Whether the next entry was built on this one, where there is a next. */
function nextStep({ after, position }: Exhibit, { hash }: Own): Step[] {
  const fields = after === undefined ? undefined : fieldsOf(after);
  if (!fields) return [];
  const next = text(fields, "prev_hash");
  const state = next === hash ? "pass" as const : "fail" as const;
  return [{
    name: "Next entry",
    state,
    text: state === "pass"
      ? `#${position + 1} is built on it`
      : `#${position + 1} is built on something else`,
    compared: [{ label: `prev_hash of #${position + 1}`, value: next }, {
      label: "hash_sha256",
      value: hash,
    }],
  }];
}

interface Previous {
  readonly hash: string;
  readonly era: Era | undefined;
  /** Its hash is that of its bytes, where its era has such a hash. */
  readonly hashed: boolean;
}

function summaryOf(record: string, position: number, primitives: Primitives): Previous {
  const { hash, era, verdict } = verifyRecord(
    record,
    { position, previousHash: "" }, // its own link is not in question here
    [],
    primitives,
  );
  return { hash, era, hashed: verdict.checks.hash !== "fail" };
}

function fieldsOf(record: string): ReadonlyMap<string, string> | undefined {
  try {
    return canonicalizeFields(record);
  } catch (error) {
    if (error instanceof NotCanonical) return undefined;
    throw error;
  }
}

function text(fields: ReadonlyMap<string, string>, name: string): string {
  const json = fields.get(name);
  return json?.startsWith('"') ? JSON.parse(json) : "";
}

function signatureOf(fields: ReadonlyMap<string, string>) {
  const { public_key, value } = JSON.parse(fields.get("signature") ?? "{}") ?? {};
  const asText = (field: unknown) => typeof field === "string" ? field : "";
  return { public_key: asText(public_key), value: asText(value) };
}

function bytesOf(hex: string, { fromHex }: Primitives): Uint8Array {
  return /^(?:[0-9a-f]{2})*$/.test(hex) ? fromHex(hex) : new Uint8Array();
}
