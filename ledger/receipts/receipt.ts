import { hash, randomFillSync, randomUUID } from "node:crypto";
import { canonicalize, canonicalizeValues, joinFields, NotCanonical } from "../rules/mod.ts";
import { InvalidInput, type Issue } from "../../contract/mod.ts";

/** Version of what is sealed today. */
export const SCHEMA_VERSION = "3.0";
/** Most bytes of a receipt's canonical form. */
export const MAX_RECEIPT_BYTES = 256 * 1024;
/** Bytes that number, link and version add to a request at the most. */
const ENVELOPE_BYTES = 256;

/** What somebody asks to be sealed. All of it but `evidence` becomes public, for ever. */
export interface SealRequest {
  /** Stable id, 1 to 128 of `A-Za-z0-9._:-`: the same request again is the same receipt. Default: random. */
  readonly id?: string;
  readonly category: string;
  readonly actor: string;
  readonly subject: string;
  readonly action: string;
  readonly outcome: string;
  /** Ids, codes, counts, hashes; no text of people. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Text that a person wrote with the request, meant to be published. Default: empty. */
  readonly human_input?: string;
  /** ISO 8601 with offset. Default: now. */
  readonly timestamp?: string;
  /** Control ids that the receipt attests to. */
  readonly compliance_tags?: readonly string[];
  /** Id of the receipt that this one corrects. */
  readonly supersedes?: string;
  /** Ids of receipts that informed this change. */
  readonly learned_from?: readonly string[];
  /** What the receipt speaks of, kept privately; `details.commitments` gets a salted hash of each entry. */
  readonly evidence?: Readonly<Record<string, unknown>>;
}

/** Private evidence behind one commitment of a receipt. */
export interface Evidence {
  readonly name: string;
  /** 32 random bytes. */
  readonly salt: Buffer;
  /** Canonical JSON. */
  readonly content: string;
}

/** A request made ready for the outbox. */
export interface PreparedRequest {
  readonly id: string;
  /** Canonical JSON of the caller's fields, id and timestamp included. */
  readonly payload: string;
  /** What makes a repeated request the same: everything but its time and its salts. */
  readonly requestHash: Buffer;
  readonly evidence: readonly Evidence[];
}

const ID = /^[A-Za-z0-9._:-]{1,128}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const TEXTS = ["category", "actor", "subject", "action", "outcome"] as const;

const SALT_BYTES = 32;
/** Chance for the salts to come, fetched for many at once: to ask for it costs as much as all else about a salt. */
const chance = Buffer.alloc(128 * SALT_BYTES);
let chanceUsed = chance.length;

/** Commitment to a text: SHA-256 over the salt and then the text, as hex. */
export function computeCommitment(salt: Uint8Array, canonicalText: string): string {
  return hash("sha256", Buffer.concat([salt, Buffer.from(canonicalText)]));
}

/** Digits of a random UUID, whose chance Node fetches for many at once. @param length ≤ 32; receipts' ids have 16 */
export function randomHex(length: number): string {
  return randomUUID().replaceAll("-", "").slice(0, length);
}

/** The time now, as receipts have it: UTC, microseconds, offset. */
export function formatReceiptTime(): string {
  return new Date().toISOString().replace("Z", "000+00:00");
}

/**
 * Checks a request and makes it ready. Changes nothing.
 *
 * @throws {InvalidInput} says of each field what was wrong
 */
export function prepareRequest(request: SealRequest): PreparedRequest {
  const issues = check(request);
  if (issues.length > 0) throw new InvalidInput(issues);
  const { evidence: shown = {}, timestamp = formatReceiptTime(), ...rest } = request;
  const id = request.id ?? randomHex(16);
  const evidence = Object.entries(shown).map(([name, value]) => ({
    name,
    salt: newSalt(),
    content: canonicalOf(`evidence.${name}`, () => canonicalize(value)),
  }));
  const details = request.details ?? {};
  const fields = canonicalOf(
    "details",
    () => canonicalizeValues({ ...rest, id, details, human_input: request.human_input ?? "" }),
  );
  const stable = joinFields(fields);
  fields.set("timestamp", JSON.stringify(timestamp));
  if (evidence.length > 0) {
    fields.set("details", canonicalize(withCommitments(details, evidence)));
  }
  const payload = joinFields(fields);
  const bytes = Buffer.byteLength(payload) + ENVELOPE_BYTES;
  if (bytes > MAX_RECEIPT_BYTES) {
    throw issue(
      "details",
      `The receipt would have ${bytes} bytes; at most ${MAX_RECEIPT_BYTES} can be sealed`,
    );
  }
  return { id, payload, requestHash: requestHash(stable, evidence), evidence };
}

function newSalt(): Buffer {
  if (chanceUsed === chance.length) {
    randomFillSync(chance);
    chanceUsed = 0;
  }
  const taken = chance.subarray(chanceUsed, chanceUsed += SALT_BYTES);
  const salt = Buffer.from(taken);
  taken.fill(0);
  return salt;
}

function requestHash(stable: string, evidence: readonly Evidence[]): Buffer {
  const shown = evidence.map(({ name, content }) => `\n${name} ${content}`).join("");
  return Buffer.from(hash("sha256", stable + shown, "buffer"));
}

function withCommitments(
  details: Readonly<Record<string, unknown>>,
  evidence: readonly Evidence[],
) {
  const commitments = evidence.map((
    { name, salt, content },
  ) => [name, computeCommitment(salt, content)]);
  return { ...details, commitments: Object.fromEntries(commitments) };
}

/** What `work` gives; what it says of a value without canonical form is said of the field. */
function canonicalOf<T>(field: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof NotCanonical) throw issue(field, error.issues[0]!.msg);
    throw error;
  }
}

const issue = (field: string, msg: string) =>
  new InvalidInput([{ path: field.split("."), msg, type: "value_error" }]);

function check(request: SealRequest): Issue[] {
  const issues: Issue[] = [];
  const wrong = (field: string, msg: string) =>
    issues.push({ path: [field], msg, type: "value_error" });
  for (const field of TEXTS) {
    const value = request[field];
    if (typeof value !== "string" || value === "") {
      wrong(field, "Expected a text that is not empty");
    }
  }
  if (request.id !== undefined && !ID.test(request.id)) {
    wrong("id", "Expected 1 to 128 characters of A-Z a-z 0-9 . _ : -");
  }
  const { timestamp, details } = request;
  if (timestamp !== undefined && !(TIME.test(timestamp) && !Number.isNaN(Date.parse(timestamp)))) {
    wrong("timestamp", "Expected ISO 8601 with offset, like 2026-07-01T12:00:00+00:00");
  }
  if (details !== undefined && "commitments" in details && request.evidence !== undefined) {
    wrong(
      "details",
      "The field commitments is made from the evidence, and can't be given beside it",
    );
  }
  return issues;
}
