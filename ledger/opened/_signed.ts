import type { SignedStatement } from "../../contract/domain/mod.ts";
import {
  PasskeyError,
  type ShownApproval,
  shownLines,
  signedChallenge,
  verifyAssertion,
} from "../passkeys/mod.ts";
import type { Primitives } from "../rules/mod.ts";
import { COUNT, HASH, listOf, object, oneOf, orNull, TEXT } from "./_shapes.ts";
import { asObject, type CheckedReceipt } from "./_receipt.ts";

const STATEMENT = object({
  passkey_id: TEXT,
  public_key: (value) =>
    [
      object({ kty: oneOf("EC"), crv: oneOf("P-256"), x: TEXT, y: TEXT }),
      object({ kty: oneOf("OKP"), crv: oneOf("Ed25519"), x: TEXT }),
      object({ kty: oneOf("RSA"), n: TEXT, e: TEXT }),
    ].some((shape) => shape(value)),
  enrolment: TEXT,
  statement: object({
    version: oneOf(1),
    approval: TEXT,
    cycle: COUNT,
    move: oneOf("approved"),
    act: HASH,
    shown_sha256: HASH,
    nonce: TEXT,
  }),
  assertion: object({
    credential_id: TEXT,
    client_data: TEXT,
    authenticator_data: TEXT,
    signature: TEXT,
  }),
  rp_id: TEXT,
  origin: TEXT,
}, {
  list: object({
    statement: object({
      version: oneOf(1),
      move: oneOf("approved"),
      size: COUNT,
      root: HASH,
      nonce: TEXT,
    }),
    index: COUNT,
    path: listOf(HASH),
  }),
});

const SHOWN = object({
  approval_id: TEXT,
  subject: TEXT,
  description: TEXT,
  rule: orNull(TEXT),
  reasons: listOf(TEXT),
  reaches: listOf(TEXT),
  evidence: listOf(object({ kind: TEXT, id: TEXT })),
  requested_by: TEXT,
  tenant_id: TEXT,
  needed: COUNT,
  action_salt: HASH,
});

/** What a passkey has signed, and the lines that it has signed of. */
export interface Signed {
  readonly signed: SignedStatement;
  readonly lines: readonly string[];
}

const UTF_8 = new TextEncoder();

/**
 * Checks what a passkey has signed about an approval: that it is about this very one, its act, and the lines that are made of
 * what was opened; and the passkey's answer itself.
 *
 * @returns a sentence where that does not hold
 */
export async function checkSigned(
  receipt: CheckedReceipt,
  primitives: Primitives,
): Promise<Signed | string> {
  const { subject, details, opened, contents } = receipt;
  const signed = (opened.get("statement") ?? details.statement) as SignedStatement;
  const shown = opened.get("shown") as Omit<ShownApproval, "action"> & {
    readonly action_salt: string;
  };
  const action = contents.get("action")!;
  if (!STATEMENT(signed)) return "its statement is none that a passkey signs";
  if (!SHOWN(shown)) return "its shown fields are not those of an approval";
  const { statement } = signed;
  if ([statement.approval, shown.approval_id, details.approval_id].some((id) => id !== subject)) {
    return "what was signed is about another approval";
  }
  if (statement.cycle !== details.cycle) {
    return "what was signed is about the approval before it was reopened";
  }
  const { sha256, fromHex } = primitives;
  const act = sha256(Uint8Array.from([...fromHex(shown.action_salt), ...UTF_8.encode(action)]));
  if (act !== details.action_commitment || statement.act !== act) {
    return "what was signed is about another act";
  }
  const lines = shownLines({ ...shown, action: asObject(JSON.parse(action)) });
  const text = lines.map((line) => `${line}\n`).join("");
  if (sha256(UTF_8.encode(text)) !== statement.shown_sha256) {
    return "what was signed is over another text than the one that is opened";
  }
  const fault = await findFault(signed, primitives);
  return fault === undefined ? { signed, lines } : `the passkey's answer does not count (${fault})`;
}

/** Returns the code of what is wrong with a passkey's answer; undefined: nothing is. */
async function findFault(
  signed: SignedStatement,
  primitives: Primitives,
): Promise<string | undefined> {
  const { assertion, public_key, rp_id: rpId, origin } = signed;
  if (/^https?:\/\/([^/:@?#]+)(?::[0-9]+)?$/.exec(origin)?.[1] !== rpId) return "rp_id";
  try {
    const challenge = signedChallenge(primitives, signed);
    const passkey = { credential_id: assertion.credential_id, public_key };
    await verifyAssertion(primitives, assertion, passkey, { challenge, rpId, origins: [origin] });
    return undefined;
  } catch (error) {
    if (error instanceof PasskeyError) return error.code;
    throw error;
  }
}
