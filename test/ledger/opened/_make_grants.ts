/** Files of opened evidence about standing grants. */
import { hash } from "node:crypto";
import type { GrantTerms, SignedGrant } from "../../../contract/domain/mod.ts";
import { NODE_PRIMITIVES } from "../../../ledger/crypto/mod.ts";
import { challengeOf, grantStatementOf } from "../../../ledger/passkeys/mod.ts";
import { canonicalize } from "../../../ledger/rules/mod.ts";
import type { Deviations } from "../passkeys/_authenticator.ts";
import { ACTION, ANN, APPROVAL, type Draft, enrolled, ORIGIN, RP_ID } from "./_make.ts";

const GRANT = "GRN-5b1e09c77a42";
const OTHERS = "APR-5b1e09c77a43";
const REPAIR = { runbook: "restart-service", version: "1.2.0", service: "shop" };
const hashOf = (action: unknown) => hash("sha256", canonicalize(action));

/** What a grant, and what went under it, differs in from an ordinary one. */
export interface GrantDifference {
  /** What its receipt, and not what was signed, says. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** What its opened terms, and not what was signed, say. */
  readonly terms?: Partial<GrantTerms>;
  readonly statement?: Partial<SignedGrant["statement"]>;
  readonly deviations?: Deviations;
  readonly maker?: string;
  readonly enrolledFor?: string;
  /** Signed terms. */
  readonly expiresAt?: string;
  readonly needed?: number;
  /** Numbers of its uses. */
  readonly uses?: readonly unknown[];
  readonly action?: unknown;
  /** What the others have approved, and how many they are; absent: it is not in the file. */
  readonly others?: { readonly grant?: Partial<GrantTerms>; readonly needed: number };
  /** Where in the file it stands: before its uses, between them, after them. */
  readonly revoked?: "before" | "after";
  /** True: the uses come before it was made. */
  readonly isLate?: boolean;
}

/** Returns the receipts of a grant: of the enrolment, of its making, of the approval of others, and of its uses. */
export function grant(difference: GrantDifference = {}): Draft[] {
  const { uses = [1, 2], others, revoked } = difference;
  const made = [...enrolmentAndGrant(difference)];
  const used = uses.map((use, n) => n % 2 === 0 ? callUnder(use, difference) : repairUnder(use));
  const end: Draft = {
    fields: {
      category: "grant",
      actor: "person",
      subject: GRANT,
      action: "grant.revoked",
      outcome: "revoked",
    },
    details: { grant_id: GRANT },
    evidence: {},
  };
  return [
    made[0]!,
    ...difference.isLate ? used : [],
    made[1]!,
    ...others ? approvalOfOthers(termsOf(difference), others) : [],
    ...revoked === "before" ? [end] : [],
    ...difference.isLate ? [] : used,
    ...revoked === "after" ? [end] : [],
  ];
}

function termsOf({ expiresAt, needed = 1 }: GrantDifference): GrantTerms {
  return {
    grant_id: GRANT,
    tenant_id: "platform",
    acts: [
      {
        approval_id: APPROVAL.approval_id,
        what: "tool wipe\u202edisk",
        action_sha256: hashOf(ACTION),
      },
      {
        approval_id: "APR-5b1e09c77a44",
        what: "runbook restart-service 1.2.0 for shop",
        action_sha256: hashOf(REPAIR),
      },
    ],
    max_uses: 2,
    expires_at: expiresAt ?? "2026-07-08T12:00:00.000Z",
    made_by: ANN.name,
    needed,
  };
}

function enrolmentAndGrant(difference: GrantDifference): [Draft, Draft] {
  const terms = termsOf(difference);
  const { authenticator, passkey, id } = enrolled(ANN);
  const statement = { ...grantStatementOf(NODE_PRIMITIVES, terms, "00"), ...difference.statement };
  const challenge = challengeOf(NODE_PRIMITIVES, statement);
  const signed: SignedGrant = {
    passkey_id: id,
    public_key: passkey.public_key,
    enrolment: hash("sha256", "receipt 0").slice(0, 16),
    statement,
    assertion: authenticator.assert(challenge, difference.deviations),
    rp_id: RP_ID,
    origin: ORIGIN,
  };
  const principal = difference.enrolledFor ?? ANN.name;
  return [{
    fields: {
      category: "passkey_enrolled",
      subject: "passkey",
      action: "people.enrol_passkey",
      actor: "person",
      outcome: "success",
    },
    details: {},
    evidence: { passkey: { ...passkey, passkey_id: id, key_id: ANN.keyId, principal } },
  }, {
    fields: {
      category: "grant",
      actor: "person",
      subject: GRANT,
      action: "grant.made",
      outcome: terms.needed > 1 ? "pending" : "granted",
    },
    details: {
      grant_id: GRANT,
      acts: terms.acts.length,
      max_uses: terms.max_uses,
      expires_at: terms.expires_at,
      needed: terms.needed,
      signed_with: "passkey",
      ...terms.needed > 1 ? { approval_id: OTHERS } : {},
      ...difference.details,
    },
    evidence: {
      terms: { ...terms, ...difference.terms },
      statement: signed,
      caller: { key_id: ANN.keyId, principal: difference.maker ?? ANN.name },
    },
  }];
}

const callUnder = (use: unknown, { action = ACTION }: GrantDifference): Draft => ({
  fields: {
    category: "governance_decision",
    actor: "key:d4d4d4d4d4d4d4d4",
    subject: "wipe_disk",
    action: "disks.wipe",
    outcome: "allow",
  },
  details: { rule: GRANT, grant: GRANT, use },
  evidence: { action },
});

const repairUnder = (use: unknown): Draft => ({
  fields: {
    category: "grant",
    actor: "itsm-loop",
    subject: "INC-0123456789ab",
    action: "grant.used",
    outcome: "granted",
  },
  details: { grant: GRANT, use, max_uses: 2 },
  evidence: { action: REPAIR },
});

function approvalOfOthers(
  terms: GrantTerms,
  { grant = {}, needed }: NonNullable<GrantDifference["others"]>,
): Draft[] {
  const action = { kind: "standing_grant", grant: { ...terms, ...grant } };
  const names = Array.from({ length: needed }, (_, n) => `voter:${String(n + 5).repeat(16)}`);
  const about = { category: "approval", subject: OTHERS };
  return [
    {
      fields: {
        ...about,
        actor: `key:${ANN.keyId}`,
        action: "approval.requested",
        outcome: "pending",
      },
      details: { approval_id: OTHERS, needed },
      evidence: { action, requested_by: ANN.name },
    },
    ...names.map((actor, n): Draft => ({
      fields: {
        ...about,
        actor,
        action: "approval.approved",
        outcome: n + 1 === needed ? "approved" : "pending",
      },
      details: { approval_id: OTHERS, needed, number: n + 2, approvers: names.slice(0, n + 1) },
      evidence: { action },
    })),
  ];
}
