/**
 * Fields whose texts may stand in Temporal's histories: ids, names of services, runbooks and tools, states, codes and
 * times. The text of any other field is private. Numbers and booleans stay wherever they are.
 */
const PUBLIC_FIELDS: ReadonlySet<string> = new Set([
  // Ids
  "id",
  "tenant_id",
  "workflow_id",
  "run_id",
  "ticket_id",
  "receipt_id",
  "approval_id",
  "conversation_id",
  "question_id",
  "delivery_id",
  "vote_id",
  "message_id",
  "act_id",
  "decision_id",
  "execution_id",
  "key_id",
  "task_id",
  "fingerprint",
  "loops",
  "anchors",
  "subject",
  "approvers",
  "requested_by",
  "policy_version",
  "email_id",
  "reply_id",
  "contact_id",
  "sequence",
  "sha256",
  "action_sha256",
  "runbook_sha256",
  "commands_sha256",
  "restart_sha256",
  "check_sha256",
  "values_sha256",
  "project_id",
  "article_id",
  "audio_id",
  "transcript_id",
  "unsigned_sha256",
  "mp4",
  "poster",
  // Names
  "service",
  "services",
  "runbook",
  "tool",
  "skill",
  "agent",
  "node",
  "detector",
  "observers",
  "looks",
  "scanner",
  "tickets",
  "receipts",
  "topics",
  "provider",
  "model",
  "written_by",
  "scenario",
  "move",
  // States, codes and times
  "state",
  "status",
  "step",
  "phase",
  "outcome",
  "code",
  "check",
  "kind",
  "basis",
  "escalated",
  "severity",
  "category",
  "decision",
  "observed_at",
  "started_at",
  "ended_at",
  "since",
  "until",
  // Of the ledger: the state of the scrub is kept outside of the database on purpose
  "previousHash",
  "tree",
  "root",
  "hash",
  "publicKey",
  "recoveryKey",
]);
/** Fields whose objects are looked into for public fields. */
const PUBLIC_PARTS: ReadonlySet<string> = new Set([
  "finding",
  "related",
  "resumes",
  "incidents",
  "run",
  "asking_run",
  "reopens",
  "terms",
  "diagnosis",
  "classification",
  "passed_over",
  "permission",
  "approval",
  "effect",
  "undone",
  "held",
  "proof",
  "summary",
  "steps",
  "counts",
  "batches",
  "scanners",
  "task",
  "plan",
  "place",
  "checkpoint",
  "known",
  "keys",
  "question",
  "answer",
  "orders",
  "deliveries",
  "order",
]);
/** Matches what ids, names, codes and times look like. Text of people has spaces, or is longer. */
const ID_SHAPE = /^[\w.:/+=-]{0,128}$/;
/** Requesters that are keys. Others are names of people. */
const KEY = /^key:[\w.-]+$/;
/** Field of a text that stands elsewhere: its id. */
const REFERENCE = "$private";

/** A part of a payload that may not be seen by those who reach Temporal. */
export interface PrivatePart {
  /** JSON. */
  readonly text: string;
  /** Stands in its place. Its id is filled in when the text is stored. */
  readonly reference: { [REFERENCE]: string };
}

/**
 * Replaces the private parts of a value by references.
 *
 * A bare string stays: only ids are passed as such, and sentences for the Web UI. Text is passed in fields.
 *
 * @param parts takes what was replaced
 */
export function replacePrivateParts(value: unknown, parts: PrivatePart[]): unknown {
  const isShown = typeof value === "string" || isDescription(value);
  return isShown ? value : publicPart(value, undefined, parts);
}

/** Returns true for the SDK's description of a run, by which the Web UI shows its current details. */
function isDescription(value: unknown): boolean {
  return typeof value === "object" && value !== null && "definition" in value &&
    "currentDetails" in value;
}

/** @param field of the value; undefined: it is not in an object */
function publicPart(value: unknown, field: string | undefined, parts: PrivatePart[]): unknown {
  if (typeof value === "string") return isPublic(field, value) ? value : replace(value, parts);
  if (value === null || typeof value !== "object") return value;
  const isPart = field === undefined || PUBLIC_PARTS.has(field) ||
    Array.isArray(value) && PUBLIC_FIELDS.has(field);
  if (!isPart || isReference(value)) return replace(value, parts);
  if (Array.isArray(value)) return value.map((one) => publicPart(one, field, parts));
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([name, one]) => [name, publicPart(one, name, parts)]));
}

function isPublic(field: string | undefined, text: string): boolean {
  if (field === undefined || !PUBLIC_FIELDS.has(field)) return false;
  return ID_SHAPE.test(text) && (field !== "requested_by" || KEY.test(text));
}

function replace(value: unknown, parts: PrivatePart[]): PrivatePart["reference"] {
  const reference = { [REFERENCE]: "" };
  parts.push({ text: JSON.stringify(value), reference });
  return reference;
}

/** Lists the ids of the private parts of a value. */
export function listReferences(value: unknown): string[] {
  if (value === null || typeof value !== "object") return [];
  if (isReference(value)) return [value[REFERENCE]];
  return Object.values(value).flatMap(listReferences);
}

/** Puts the private parts of a value back in their places. @param texts JSON by its id */
export function restorePrivateParts(value: unknown, texts: ReadonlyMap<string, string>): unknown {
  if (value === null || typeof value !== "object") return value;
  if (isReference(value)) return JSON.parse(texts.get(value[REFERENCE])!);
  if (Array.isArray(value)) return value.map((one) => restorePrivateParts(one, texts));
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([name, one]) => [name, restorePrivateParts(one, texts)]));
}

function isReference(value: object): value is PrivatePart["reference"] {
  return REFERENCE in value;
}
