import {
  type Check,
  type Era,
  type NamedPlaces,
  type Primitives,
  type TrustedKey,
  verifyRecord,
} from "../../rules/mod.ts";
import { readFields, readText } from "./fields.ts";

/** One check of a receipt, with the values that were compared. */
export interface Step {
  readonly name: string;
  /** `not_checked`: something that it needs is not available; `pending`: there is nothing to check yet. */
  readonly state: Check | "not_checked" | "pending";
  readonly text: string;
  readonly compared: readonly ComparedValue[];
}

/** A value that was compared. */
export interface ComparedValue {
  readonly label: string;
  readonly value: string;
}

/** A receipt to check, with its neighbours. */
export interface ReceiptToCheck {
  /** The id that was asked for, if any. */
  readonly asked?: string | undefined;
  readonly position: number;
  readonly record: string;
  /** The neighbouring records; undefined if there is none, or if it is not available. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Checks a receipt step by step. */
export function checkReceipt(
  receipt: ReceiptToCheck,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): Step[] {
  const { record, before, position } = receipt;
  const previous = before === undefined
    ? undefined
    : readPrevious(before, position - 1, primitives);
  const place = {
    position,
    previousHash: previous?.hash ?? "",
    previousEra: previous?.era,
  };
  const { verdict, era, places } = verifyRecord(record, place, keys, primitives);
  const { checks, reasons, verified } = verdict;
  const fields = readFields(record);
  if (!fields) {
    return [{ name: "Record", state: "fail", text: reasons.join("; "), compared: [] }];
  }
  const bytes = decodeHex(readText(fields, "canonical_bytes"), primitives);
  const content: Content = { fields, bytes, hash: readText(fields, "hash_sha256"), era };
  const steps = [
    checkHash(checks.hash, content, primitives),
    checkCanonical(checks.canonical, content),
    checkSignature(checks.signature, content, primitives),
    checkLink(checks.link, content, previous, receipt, reasons),
    ...checkPlaces(places),
    ...checkNext(receipt, content),
  ];
  const isExplained = verified || places.fault !== undefined ||
    Object.values(checks).includes("fail");
  if (!isExplained) {
    steps.unshift({ name: "Era", state: "fail", text: reasons.join("; "), compared: [] });
  }
  return [...checkIdentity(receipt, content), ...steps];
}

/** Returns true if no step failed, and none that applies was left out. */
export function passes(steps: readonly Step[]): boolean {
  return steps.length > 0 &&
    steps.every(({ state }) => state !== "fail" && state !== "not_checked");
}

/** The content of the receipt that is checked. */
interface Content {
  readonly fields: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
  readonly hash: string;
  readonly era: Era | undefined;
}

function checkIdentity({ asked }: ReceiptToCheck, { fields }: Content): Step[] {
  if (asked === undefined) return [];
  const id = readText(fields, "id");
  const isSame = id === asked;
  return [{
    name: "Identity",
    state: isSame ? "pass" : "fail",
    text: isSame ? "It is the requested receipt" : "It is not the requested receipt",
    compared: [{ label: "requested", value: asked }, { label: "id in the record", value: id }],
  }];
}

function checkHash(state: Check, { bytes, hash, era }: Content, { sha256 }: Primitives): Step {
  const name = "Hash";
  if (state === "not_applicable") {
    const text = `Era ${era} did not keep the hashed bytes, so there is nothing to compare`;
    return { name, state, text, compared: [{ label: "hash_sha256", value: hash }] };
  }
  return {
    name,
    state,
    text: `SHA-256 of the canonical bytes ${state === "pass" ? "is" : "is not"} the receipt’s hash`,
    compared: [
      { label: "computed here", value: sha256(bytes) },
      { label: "hash_sha256", value: hash },
    ],
  };
}

function checkCanonical(state: Check, { fields, bytes }: Content): Step {
  const name = "Canonical form";
  if (state === "not_applicable") {
    return { name, state, text: "Era 1 has no canonical bytes", compared: [] };
  }
  const differing = state === "pass" ? [] : findDiffering(fields, bytes);
  const which = differing.length > 0
    ? `: ${
      differing.map(({ label }) => label.replace(/ \(.*/, "")).filter((one, n, all) =>
        one !== all[n - 1]
      ).join(", ")
    } ${differing.length > 2 ? "differ" : "differs"}`
    : "";
  return {
    name,
    state,
    text: state === "pass"
      ? "The fields in canonical form are the receipt’s canonical bytes"
      : `The fields in canonical form are not the receipt’s canonical bytes${which}`,
    compared: differing.length > 0 ? differing : [
      { label: "fields", value: [...fields.keys()].join(", ") },
      { label: "canonical bytes", value: `${bytes.length} bytes` },
    ],
  };
}

const MAX_DIFFERING = 10;

/** Finds the fields that the record shows otherwise than its canonical bytes have them, each as shown and as in the bytes. */
function findDiffering(
  fields: ReadonlyMap<string, string>,
  bytes: Uint8Array,
): ComparedValue[] {
  const sealed = readFields(new TextDecoder().decode(bytes));
  if (!sealed) return [];
  const names = new Set([...sealed.keys(), ...fields.keys()].filter((name) => !AROUND.has(name)));
  const [NOTHING, differing] = ["(not there)", [] as ComparedValue[]];
  for (const name of names) {
    const [shown, signed] = [fields.get(name) ?? NOTHING, sealed.get(name) ?? NOTHING];
    if (shown === signed || name === "prev_hash" && !sealed.has(name)) continue;
    differing.push({ label: `${name} (shown)`, value: shown }, {
      label: `${name} (sealed)`,
      value: signed,
    });
  }
  return differing.slice(0, 2 * MAX_DIFFERING);
}

/** Fields around the canonical bytes, in one of the eras. */
const AROUND = new Set(["canonical_bytes", "hash_sha256", "signature", "receiver_attestation"]);

function checkSignature(state: Check, { fields }: Content, primitives: Primitives): Step {
  const name = "Signature";
  if (state === "not_applicable") {
    return { name, state, text: "Era 1 was not signed", compared: [] };
  }
  const { public_key: key, value } = readSignature(fields);
  return {
    name,
    state,
    text: state === "pass"
      ? "The key published for this position has signed the canonical bytes with Ed25519"
      : "The key published for this position has not signed these bytes",
    compared: [
      { label: "public key", value: key },
      { label: "its SHA-256", value: key && primitives.sha256(decodeHex(key, primitives)) },
      { label: "signature", value },
    ],
  };
}

function checkLink(
  state: Check,
  { fields, era }: Content,
  previous: Previous | undefined,
  { position }: ReceiptToCheck,
  reasons: readonly string[],
): Step {
  const name = "Link";
  const link = { label: "prev_hash", value: readText(fields, "prev_hash") || "(empty)" };
  if (position === 0) {
    const good = "It is the first entry, and links to nothing";
    return { name, state, text: state === "pass" ? good : reasons.join("; "), compared: [link] };
  }
  const before = `#${position - 1}`;
  if (!previous) {
    const text = `The entry before, ${before}, is not available`;
    return { name, state: "not_checked", text, compared: [link] };
  }
  const compared = [link, { label: `hash of ${before}`, value: previous.hash }];
  if (!previous.hasOwnHash) {
    const text = `The hash of the entry before, ${before}, is not that of its bytes`;
    return { name, state: "fail", text, compared };
  }
  const good = era === 3
    ? `It links to ${before}, and the link is signed`
    : `It points to ${before}; in era ${era} the link was not signed`;
  const bad = reasons.filter((reason) => /prev_hash|chain_position|era/.test(reason)).join("; ");
  const text = state === "pass" ? good : bad || "The link is wrong";
  return { name, state, text, compared };
}

/** Checks what places have signed, in a receipt that names any. The check of the whole chain tells whether they are enrolled. */
function checkPlaces({ acted, enrolled, fault }: NamedPlaces): Step[] {
  if (fault === undefined && enrolled === undefined && acted.length === 0) return [];
  const named = enrolled === undefined ? acted : [enrolled];
  const good = enrolled === undefined
    ? "The place that it names has signed each result, with the key that is its id"
    : "It enrols a place by its public key";
  return [{
    name: "Place",
    state: fault === undefined ? "pass" : "fail",
    text: fault ?? good,
    compared: named.map((value) => ({ label: "place", value })),
  }];
}

/** Checks that the next entry, if there is one, links to this one. */
function checkNext({ after, position }: ReceiptToCheck, { hash }: Content): Step[] {
  const fields = after === undefined ? undefined : readFields(after);
  if (!fields) return [];
  const next = `#${position + 1}`;
  const link = readText(fields, "prev_hash");
  const state = link === hash ? "pass" : "fail";
  return [{
    name: "Next entry",
    state,
    text: state === "pass" ? `${next} links to it` : `${next} links to something else`,
    compared: [
      { label: `prev_hash of ${next}`, value: link },
      { label: "hash_sha256", value: hash },
    ],
  }];
}

/** The entry before. */
interface Previous {
  readonly hash: string;
  readonly era: Era | undefined;
  /** False if its era hashes the stored bytes, and its hash is not theirs. */
  readonly hasOwnHash: boolean;
}

function readPrevious(record: string, position: number, primitives: Primitives): Previous {
  const place = { position, previousHash: "" }; // its own link and signature do not matter here
  const { hash, era, verdict } = verifyRecord(record, place, [], primitives);
  return { hash, era, hasOwnHash: verdict.checks.hash !== "fail" };
}

function readSignature(fields: ReadonlyMap<string, string>) {
  const { public_key, value } = JSON.parse(fields.get("signature") ?? "{}") ?? {};
  const asText = (field: unknown) => typeof field === "string" ? field : "";
  return { public_key: asText(public_key), value: asText(value) };
}

function decodeHex(hex: string, { fromHex }: Primitives): Uint8Array {
  return /^(?:[0-9a-f]{2})*$/.test(hex) ? fromHex(hex) : new Uint8Array();
}
