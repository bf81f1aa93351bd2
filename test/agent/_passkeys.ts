/** Passkeys of approvers, and what they sign about commands. */
import { hash } from "node:crypto";
import type { ApproverPasskey, DeviceCommand, PasskeyApproval } from "../../contract/domain/mod.ts";
import { NODE_PRIMITIVES } from "../../ledger/crypto/mod.ts";
import {
  challengeOf,
  listStatementOf,
  placesIn,
  verifyRegistration,
} from "../../ledger/passkeys/mod.ts";
import { canonicalize } from "../../ledger/rules/mod.ts";
import {
  type Algorithm,
  createAuthenticator,
  type Deviations,
  type TestAuthenticator,
} from "../ledger/passkeys/_authenticator.ts";

const SITE = { rp_id: "ops.example", origin: "https://ops.example" };
const SALT = hash("sha256", "salt of an action");

/** An approver's phone. */
export interface Phone {
  readonly authenticator: TestAuthenticator;
  readonly passkey: ApproverPasskey;
}

/** Makes a phone with a passkey. */
export function makePhone(algorithm: Algorithm = "ES256", site = SITE): Phone {
  const authenticator = createAuthenticator(site.rp_id, site.origin, algorithm);
  const challenge = Buffer.alloc(32).toString("base64url");
  const { credential_id, public_key } = verifyRegistration(
    NODE_PRIMITIVES,
    authenticator.register(challenge),
    { challenge, rpId: site.rp_id, origins: [site.origin] },
  );
  return { authenticator, passkey: { credential_id, public_key, ...site } };
}

/** Differences of an answer from an ordinary one. */
export interface AnswerDifference {
  readonly statement?: Partial<PasskeyApproval["statement"]>;
  readonly deviations?: Deviations;
  /** True: one gesture over a list in which it is the second of three. */
  readonly listed?: boolean;
}

/** Approves a command as the console does, by a phone. */
export function approveByPasskey(
  { sequence: _, approval, ...action }: DeviceCommand,
  { authenticator }: Phone,
  { statement: more, deviations, listed }: AnswerDifference = {},
): PasskeyApproval {
  const bytes = Buffer.concat([Buffer.from(SALT, "hex"), Buffer.from(canonicalize(action))]);
  const statement = {
    version: 1,
    approval: approval!.approval_id,
    cycle: 0,
    move: "approved",
    act: hash("sha256", bytes),
    shown_sha256: hash("sha256", "what was shown"),
    nonce: "00",
    ...more,
  } as const;
  const all = ["1", "2"].map((nonce) => ({ ...statement, approval: `APR-${nonce}`, nonce }));
  const list = [all[0]!, statement, all[1]!];
  const place = listed ? placesIn(NODE_PRIMITIVES, list, "00")[1] : undefined;
  const signed = place ? listStatementOf(NODE_PRIMITIVES, list, "00") : statement;
  const assertion = authenticator.assert(challengeOf(NODE_PRIMITIVES, signed), deviations);
  return { salt: SALT, statement, ...(place ? { list: place } : {}), assertion };
}
