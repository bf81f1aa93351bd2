/** Files of opened evidence, good ones and wrong ones, as an operator could make them. */
import { hash } from "node:crypto";
import type {
  ApprovalStatement,
  CallStatement,
  SignedStatement,
} from "../../../contract/domain/mod.ts";
import { NODE_PRIMITIVES } from "../../../ledger/crypto/mod.ts";
import { formatVerifierKey } from "../../../ledger/log/mod.ts";
import {
  callStatementOf,
  challengeOf,
  listStatementOf,
  placesIn,
  type ShownApproval,
  statementOf,
  verifyRegistration,
} from "../../../ledger/passkeys/mod.ts";
import {
  canonicalize,
  computeRoot,
  formatLeaf,
  type Hash,
  hashLeaf,
} from "../../../ledger/rules/mod.ts";
import type { EvidenceBundle } from "../../../ledger/opened/mod.ts";
import { extend, makeKey, signLine, stateCheckpoint } from "../hostile/_chain.ts";
import {
  type Algorithm,
  createAuthenticator,
  type Deviations,
} from "../passkeys/_authenticator.ts";

export const ORIGIN = "https://ops.example";
export const RP_ID = "ops.example";
const LEDGER = makeKey("ledger of opened evidence");
const LOG = makeKey("log of opened evidence");
const LOG_NAME = "ledger.example";
const LOG_NOTE = { name: LOG_NAME, publicKey: LOG.publicKey, kind: "log" } as const;

/** Verifier key of the log. */
const LOG_KEY = formatVerifierKey(LOG_NOTE);
/** Pins of the ledger that somebody has made. */
export const PINNED = {
  ledger_keys: [{ public_key: LEDGER.hex, from_position: 0 }],
  log_key: LOG_KEY,
};
/** What somebody has pinned of another ledger, as which this one is shown. */
export const PINNED_OTHER = {
  ledger_keys: [{ public_key: makeKey("another ledger").hex, from_position: 0 }],
};

const sha256 = (bytes: Uint8Array) => hash("sha256", bytes, "buffer");
const saltOf = (seed: string) => hash("sha256", `salt ${seed}`);
const commit = (salt: string, content: string) =>
  hash("sha256", Buffer.concat([Buffer.from(salt, "hex"), Buffer.from(content)]));

/** The evidence of a receipt by its names. */
type Evidence = Readonly<Record<string, unknown>>;

/** A receipt that is to be sealed and opened. */
export interface Draft {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly details: Readonly<Record<string, unknown>>;
  readonly evidence: Evidence;
}

/** Seals receipts, and opens all of their evidence. */
export function open(drafts: readonly Draft[]): EvidenceBundle {
  const contents = drafts.map(({ fields, details, evidence }, n) => {
    const commitments = Object.fromEntries(
      Object.entries(evidence).map(([name, value]) =>
        [name, commit(saltOf(`${n} ${name}`), canonicalize(value))] as const
      ),
    );
    return {
      id: hash("sha256", `receipt ${n}`).slice(0, 16),
      timestamp: `2026-07-01T12:0${n}:00.000000+00:00`,
      human_input: "",
      ...fields,
      details: { ...details, commitments },
    };
  });
  const records = extend([], contents, LEDGER);
  const text = stateCheckpoint(LOG_NAME, records);
  const leaves = records.map((record, position) => {
    const leaf = formatLeaf(
      { position, id: contents[position]!.id, text: record },
      (bytes) => hash("sha256", bytes),
    );
    return hashLeaf(Buffer.from(leaf), sha256);
  });
  return {
    sealoop_evidence: 1,
    log_key: LOG_KEY,
    checkpoint: `${text}\n${signLine(text, LOG_NOTE, LOG)}`,
    receipts: records.map((record, n) => ({
      record,
      hashes: pathOf(leaves, n).map((one) => Buffer.from(one).toString("hex")),
      opened: Object.fromEntries(
        Object.entries(drafts[n]!.evidence).map(([name, value]) =>
          [name, { salt: saltOf(`${n} ${name}`), content: canonicalize(value) }] as const
        ),
      ),
    })),
  };
}

/** @see RFC 6962 §2.1.1 */
function pathOf(leaves: readonly Hash[], index: number): Hash[] {
  if (leaves.length < 2) return [];
  const split = 2 ** Math.floor(Math.log2(leaves.length - 1));
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return index < split
    ? [...pathOf(left, index), computeRoot(right, sha256)]
    : [...pathOf(right, index - split), computeRoot(left, sha256)];
}

/** A person with a passkey. */
export interface Person {
  readonly name: string;
  readonly keyId: string;
  readonly algorithm: Algorithm;
}

/** People of the files. */
export const ANN: Person = { name: "Ann", keyId: "a1".repeat(8), algorithm: "ES256" };
export const BOB: Person = { name: "Bob", keyId: "b2".repeat(8), algorithm: "RS256" };
export const CY: Person = { name: "Cy", keyId: "c3".repeat(8), algorithm: "EdDSA" };

/** What is asked for, with all that people have to see spelled out, and numbers that programs print in several ways. */
export const ACTION = {
  runbook: "restart\u202eed",
  steps: [
    { argv: ["systemctl", "restart", "shop"], note: "first line\nsecond line\u200b" },
    {},
    [],
  ],
  limits: { "10": 1e21, "9": 0.000001, "é": 1e-7, "\u{1f600}": -2.5, "\uff5e": 100, wait: null },
  "visible⟨U+202E⟩": true,
  "visible\u202e": false,
};

export const APPROVAL: Omit<ShownApproval, "action"> = {
  approval_id: "APR-5b1e09c77a42",
  subject: "INC-0123456789ab",
  description: "Restart shop\nbecause     it is harmless",
  rule: "runbook_bounds",
  reasons: ["It reaches 5 services", "It is asked for anew: the entry has changed"],
  reaches: ["shop", "cart"],
  evidence: [{ kind: "ticket", id: "INC-0123456789ab" }],
  requested_by: "loop",
  tenant_id: "platform",
  needed: 2,
};
const ACTION_SALT = saltOf("action");

/** What an approval differs in from an ordinary one. */
export interface Difference {
  readonly voters?: readonly Person[];
  /** Pseudonyms of the voters, in their order. */
  readonly names?: readonly string[];
  readonly askedBy?: string;
  readonly needed?: number;
  /** What the evidence shows in place of what was signed. */
  readonly shown?: Readonly<Record<string, unknown>>;
  readonly action?: unknown;
  readonly statement?: Partial<ApprovalStatement>;
  readonly deviations?: Deviations;
  /** Who else has signed. */
  readonly forger?: boolean;
  readonly signed?: (signed: SignedStatement) => unknown;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly list?: boolean;
  readonly enrolledFor?: string;
  /** True: it takes a passkey. */
  readonly onlyPasskey?: boolean;
  /** True: the receipt itself has what was signed. */
  readonly isPublic?: boolean;
  /** True: keys decide. */
  readonly byKey?: boolean;
  /** Where the request says that its rule takes a passkey. */
  readonly takesPasskey?: "in public" | "in its grounds";
  /** Moves before the decisions, with their outcomes. */
  readonly before?: readonly (readonly [move: string, outcome: string])[];
  /** How many people the request asks for; default: as the decisions say. */
  readonly asksFor?: number;
}

/** Returns the receipts of an approval: of enrolments, of the request, and of each decision. */
export function approval(difference: Difference = {}): Draft[] {
  const { voters = [ANN, BOB], needed = voters.length, askedBy = "loop" } = difference;
  const passkey = difference.onlyPasskey ? { passkey: true } : {};
  const shown = { ...APPROVAL, needed, requested_by: askedBy, ...passkey, ...difference.shown };
  const action = difference.action ?? ACTION;
  const actionText = canonicalize(action);
  const act = commit(ACTION_SALT, actionText);
  const passkeys = voters.map((person) => enrolled(person));
  const names = difference.names ?? voters.map((_, n) => `voter:${String(n).repeat(16)}`);
  const about = { category: "approval", subject: APPROVAL.approval_id };
  const common = { approval_id: APPROVAL.approval_id, action_commitment: act, needed };
  return [
    ...difference.byKey ? [] : passkeys.map(({ passkey, id }, n): Draft => ({
      fields: {
        category: "passkey_enrolled",
        subject: "passkey",
        action: "people.enrol_passkey",
        actor: "person",
        outcome: "success",
      },
      details: { confirmed: false, recovered: false },
      evidence: {
        passkey: {
          ...passkey,
          passkey_id: id,
          key_id: voters[n]!.keyId,
          name: "Phone",
          principal: difference.enrolledFor ?? voters[n]!.name,
        },
      },
    })),
    {
      fields: { ...about, actor: "itsm-loop", action: "approval.requested", outcome: "pending" },
      details: {
        ...common,
        needed: difference.asksFor ?? needed,
        ...difference.takesPasskey === "in public" ? { passkey: true } : {},
      },
      evidence: {
        action,
        requested_by: askedBy,
        ...difference.takesPasskey === "in its grounds" ? { grounds: { passkey: true } } : {},
      },
    },
    ...(difference.before ?? []).map(([move, outcome]): Draft => ({
      fields: { ...about, actor: "itsm-loop", action: `approval.${move}`, outcome },
      details: common,
      evidence: { action },
    })),
    ...voters.map((person, n): Draft => {
      const signed = difference.byKey ? undefined : sign(passkeys[n]!, n, act, difference);
      return {
        fields: {
          ...about,
          actor: names[n],
          action: "approval.approved",
          outcome: n + 1 === voters.length ? "approved" : "pending",
        },
        details: {
          ...common,
          number: n + 2,
          approvers: names.slice(0, n + 1),
          ...signed ? { signed_with: "passkey", cycle: 0 } : {},
          ...difference.isPublic ? { statement: signed } : {},
          ...difference.details,
        },
        evidence: {
          action,
          voter: { key_id: person.keyId, principal: person.name },
          ...signed ? { statement: signed, shown: { ...shown, action_salt: ACTION_SALT } } : {},
        },
      };
    }),
  ];
}

/** What a person's call differs in from an ordinary one. */
export interface CallDifference {
  readonly call?: string;
  readonly act?: string;
  readonly shown?: Readonly<Record<string, unknown>>;
  readonly deviations?: Deviations;
  /** True: no passkey has signed it. */
  readonly unsigned?: boolean;
}

/** Returns the receipts of a call that a person makes and signs: of the enrolment, and of the decision. */
export function ownCall(
  { call, act, shown, deviations, unsigned }: CallDifference = {},
): Draft[] {
  const { authenticator, passkey, id } = enrolled(ANN);
  const action = { operation: "contacts.erase", tool: "contacts_erase", arguments: ACTION };
  const seen = {
    summary: "Erase a contact",
    rule: "erasing-asks",
    reasons: ["It can't be undone"],
    reaches: [],
    requested_by: ANN.name,
    tenant_id: "platform",
    action,
  };
  const statement = callStatementOf(NODE_PRIMITIVES, seen, {
    act: act ?? hash("sha256", canonicalize(action)),
    nonce: "00",
  });
  const over = { ...statement, call: call ?? statement.call };
  const assertion = authenticator.assert(challengeOf(NODE_PRIMITIVES, over), deviations);
  const signed: SignedStatement<CallStatement> = {
    passkey_id: id,
    public_key: passkey.public_key,
    enrolment: hash("sha256", "receipt 0").slice(0, 16),
    statement: over,
    assertion,
    rp_id: RP_ID,
    origin: ORIGIN,
  };
  return [
    ...approval({ voters: [ANN] }).slice(0, 1).map((draft) => ({
      ...draft,
      evidence: { passkey: { ...passkey, passkey_id: id, key_id: ANN.keyId, principal: "Ann" } },
    })),
    {
      fields: {
        category: "governance_decision",
        actor: `key:${ANN.keyId}`,
        subject: "contacts_erase",
        action: action.operation,
        outcome: "allow",
      },
      details: {
        caller_approves: true,
        passkey: true,
        ...unsigned ? {} : { signed_with: "passkey" },
      },
      evidence: {
        arguments: ACTION,
        ...unsigned ? {} : { statement: signed, shown: { ...seen, ...shown } },
      },
    },
  ];
}

/** Enrols a passkey of a person. */
export function enrolled({ name, algorithm }: Person) {
  const authenticator = createAuthenticator(RP_ID, ORIGIN, algorithm);
  const challenge = Buffer.from(saltOf(name), "hex").toString("base64url");
  const expected = { challenge, rpId: RP_ID, origins: [ORIGIN] };
  const { count: _, ...passkey } = verifyRegistration(
    NODE_PRIMITIVES,
    authenticator.register(challenge),
    expected,
  );
  return { authenticator, passkey, id: `PKY-${hash("sha256", name).slice(0, 12)}` };
}

function sign(
  { authenticator, passkey, id }: ReturnType<typeof enrolled>,
  n: number,
  act: string,
  difference: Difference,
): unknown {
  const needed = difference.needed ?? difference.voters?.length ?? 2;
  const seen = {
    ...APPROVAL,
    needed,
    requested_by: difference.askedBy ?? "loop",
    ...difference.onlyPasskey ? { passkey: true } : {},
    action: ACTION,
    action_commitment: act,
  };
  const nonce = saltOf(`nonce ${n}`).slice(0, 32);
  const statement = {
    ...statementOf(NODE_PRIMITIVES, seen, { cycle: 0, nonce }),
    ...difference.statement,
  };
  const others = [1, 2, 3, 4].map((one) => ({
    ...statement,
    approval: `APR-${one}`,
    nonce: `${one}`,
  }));
  const listed = [...others.slice(0, 3), statement, ...others.slice(3)];
  const place = difference.list ? placesIn(NODE_PRIMITIVES, listed, "00")[3] : undefined;
  const what = place ? listStatementOf(NODE_PRIMITIVES, listed, "00") : statement;
  const challenge = challengeOf(NODE_PRIMITIVES, what);
  const signer = difference.forger ? createAuthenticator(RP_ID, ORIGIN) : authenticator;
  const assertion = {
    ...signer.assert(challenge, difference.deviations),
    credential_id: passkey.credential_id,
  };
  const signed: SignedStatement = {
    passkey_id: id,
    public_key: passkey.public_key,
    enrolment: hash("sha256", `receipt ${n}`).slice(0, 16),
    statement,
    ...place ? { list: place } : {},
    assertion,
    rp_id: RP_ID,
    origin: ORIGIN,
  };
  return difference.signed ? difference.signed(signed) : signed;
}
