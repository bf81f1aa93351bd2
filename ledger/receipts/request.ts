import { hash, randomUUID } from "node:crypto";
import { InvalidInput, type Issue } from "../../contract/mod.ts";
import { ANONYMOUS_ACTOR } from "../../contract/domain/mod.ts";
import { type Commitment, commitTo } from "../../store/mod.ts";
import { canonicalize, canonicalizeValues, joinFields, NotCanonical } from "../rules/mod.ts";
import { boundEntry } from "./evidence.ts";

/** `schema_version` of receipts that are sealed today. */
export const SCHEMA_VERSION = "3.0";
/** Bytes of a receipt's canonical form. */
const MAX_RECEIPT_BYTES = 256 * 1024;
/** Bytes that position, link and version add to a request, at most. */
const MAX_ENVELOPE_BYTES = 256;

/** A request to seal. Everything but `evidence` becomes public, for ever. */
export interface SealRequest {
  /** Stable id, 1 to 128 of `A-Za-z0-9._:-`: the same request again is the same receipt. Default: random. */
  readonly id?: string;
  readonly category: string;
  readonly actor: string;
  readonly subject: string;
  readonly action: string;
  readonly outcome: string;
  /** Ids, codes, counts, hashes; no text that people wrote. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Text that a person wrote with the request, meant to be published. Default: empty. */
  readonly human_input?: string;
  /** ISO 8601 with offset, at most 5 minutes from the database's clock. Default: now. A time of the past goes into `details`. */
  readonly timestamp?: string;
  /** Control ids that the receipt attests to. */
  readonly compliance_tags?: readonly string[];
  /** Id of the receipt that this one corrects. */
  readonly supersedes?: string;
  /** Ids of receipts that informed this change. */
  readonly learned_from?: readonly string[];
  /** Tenant that owns the evidence. Default: that of the handle which the request is made with. */
  readonly tenant?: string;
  /**
   * Private records behind the receipt; `details.commitments` gets a salted hash of each entry. Of entries over 256 KiB
   * the beginning is kept, with the hash of the whole.
   */
  readonly evidence?: Readonly<Record<string, unknown>>;
  /** Salts of commitments to evidence by its name, 32 random bytes each, that are shown to somebody. Default: new ones. */
  readonly salts?: Readonly<Record<string, Buffer>>;
}

/** Private evidence behind one commitment of a receipt. */
interface Evidence extends Commitment {
  readonly name: string;
  /** Canonical JSON. */
  readonly content: string;
}

/** A request, ready for the outbox. */
export interface PreparedRequest {
  readonly id: string;
  readonly category: string;
  /** Canonical JSON of the caller's fields, id and timestamp included. */
  readonly payload: string;
  /** Hash of everything but time and salts, so that a repeated request has the same. */
  readonly requestHash: Buffer;
  readonly evidence: readonly Evidence[];
  /** Tenant that owns the evidence; undefined: that of the handle. */
  readonly tenant: string | undefined;
  /** True: a caller without a key causes it, so its evidence is kept for a shorter time. */
  readonly anonymous: boolean;
}

const ID = /^[A-Za-z0-9._:-]{1,128}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const isTime = (text: string) => TIME.test(text) && !Number.isNaN(Date.parse(text));
const TEXT_FIELDS = ["category", "actor", "subject", "action", "outcome"] as const;

/** Returns random hex digits, taken from a UUID. @param length ≤ 32; ids of receipts have 16 */
export function randomHex(length: number): string {
  return randomUUID().replaceAll("-", "").slice(0, length);
}

/** Formats a time as receipts hold it: in UTC, with microseconds and offset. @param time default: now */
export function formatReceiptTime(time: Date = new Date()): string {
  return time.toISOString().replace("Z", "000+00:00");
}

/**
 * Validates a request and prepares it for the outbox.
 *
 * @throws {InvalidInput} names each field that is wrong
 */
export function prepareRequest(request: SealRequest): PreparedRequest {
  const issues = listIssues(request);
  if (issues.length > 0) throw new InvalidInput(issues);
  const { evidence: entries = {}, salts = {}, timestamp = formatReceiptTime(), tenant, ...rest } =
    request;
  const id = request.id ?? randomHex(16);
  const anonymous = request.actor === ANONYMOUS_ACTOR;
  const evidence = Object.entries(entries).map(([name, value]): Evidence => {
    const content = boundEntry(checkCanonical(`evidence.${name}`, () => canonicalize(value)));
    return { name, content, ...commitTo(content, salts[name]) };
  });
  const details = request.details ?? {};
  const fields = checkCanonical(
    "details",
    () => canonicalizeValues({ ...rest, id, details, human_input: request.human_input ?? "" }),
  );
  const stable = joinFields(fields);
  fields.set("timestamp", JSON.stringify(timestamp));
  if (evidence.length > 0) {
    const committed = { ...details, commitments: commitmentsOf(evidence) };
    fields.set("details", checkCanonical("evidence", () => canonicalize(committed)));
  }
  const payload = joinFields(fields);
  const bytes = Buffer.byteLength(payload) + MAX_ENVELOPE_BYTES;
  if (bytes > MAX_RECEIPT_BYTES) {
    throw invalid(
      "details",
      `The receipt would have ${bytes} bytes; at most ${MAX_RECEIPT_BYTES} can be sealed`,
    );
  }
  const { category } = request;
  const requestHash = hashRequest(stable, evidence);
  return { id, category, payload, requestHash, evidence, tenant, anonymous };
}

function hashRequest(stable: string, evidence: readonly Evidence[]): Buffer {
  const content = evidence.map(({ name, content }) => `\n${name} ${content}`).join("");
  return Buffer.from(hash("sha256", stable + content, "buffer"));
}

/** Returns the commitments to evidence, by the entries' names. */
function commitmentsOf(evidence: readonly Evidence[]): Record<string, string> {
  return Object.fromEntries(evidence.map(({ name, commitment }) => [name, commitment]));
}

/** Returns the result of `work`, and reports a value without canonical form as a problem of the field. */
function checkCanonical<T>(field: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof NotCanonical) throw invalid(field, error.message);
    throw error;
  }
}

/**
 * Returns why a receipt can't be sealed as it is, which whoever writes to the outbox itself could ask for; undefined: it can.
 *
 * @param fields of the request, each with the canonical text of its value
 * @param bytes of the receipt's canonical form
 */
export function receiptProblem(
  fields: ReadonlyMap<string, string>,
  bytes: number,
): string | undefined {
  if (bytes > MAX_RECEIPT_BYTES) {
    return `It has ${bytes} bytes; at most ${MAX_RECEIPT_BYTES} can be sealed`;
  }
  for (const [name, isRight] of FIELD_CHECKS) {
    if (!isRight(fields.get(name))) return `The field ${name} is missing or has another form`;
  }
  return undefined;
}

const isText = (json = "") => json.startsWith('"');
const isFilledText = (json = "") => isText(json) && json !== '""';
const isTextsOrAbsent = (json?: string) => json === undefined || isTexts(JSON.parse(json));
const isTexts = (value: unknown) =>
  Array.isArray(value) && value.every((item) => typeof item === "string");
const FIELD_CHECKS: readonly (readonly [string, (json?: string) => boolean])[] = [
  ["id", (json = "") => isText(json) && ID.test(json.slice(1, -1))],
  ["timestamp", (json = "") => isText(json) && isTime(json.slice(1, -1))],
  ...TEXT_FIELDS.map((name) => [name, isFilledText] as const),
  ["details", (json = "") => json.startsWith("{")],
  ["human_input", isText],
  ["supersedes", (json = '""') => isText(json)],
  ["compliance_tags", isTextsOrAbsent],
  ["learned_from", isTextsOrAbsent],
];

const invalid = (field: string, msg: string) =>
  new InvalidInput([{ path: field.split("."), msg, type: "value_error" }]);

function listIssues(request: SealRequest): Issue[] {
  const issues: Issue[] = [];
  const add = (field: string, msg: string) =>
    issues.push({ path: [field], msg, type: "value_error" });
  for (const field of TEXT_FIELDS) {
    const value = request[field];
    if (typeof value !== "string" || value === "") {
      add(field, "Expected a text that is not empty");
    }
  }
  if (request.id !== undefined && !ID.test(request.id)) {
    add("id", "Expected 1 to 128 characters of A-Z a-z 0-9 . _ : -");
  }
  const { timestamp, details } = request;
  if (timestamp !== undefined && !isTime(timestamp)) {
    add("timestamp", "Expected ISO 8601 with offset, like 2026-07-01T12:00:00+00:00");
  }
  if (details !== undefined && "commitments" in details && request.evidence !== undefined) {
    add(
      "details",
      "Expected no field commitments beside evidence, as it is made from the evidence",
    );
  }
  return issues;
}
