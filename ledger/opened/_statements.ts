/** The shapes of what passkeys sign, and of what people are shown then. */
import {
  COUNT,
  HASH,
  listOf,
  mapOf,
  object,
  oneOf,
  orNull,
  type Shape,
  TEXT,
  TIME,
} from "./_shapes.ts";

const PUBLIC_KEYS = [
  object({ kty: oneOf("EC"), crv: oneOf("P-256"), x: TEXT, y: TEXT }),
  object({ kty: oneOf("OKP"), crv: oneOf("Ed25519"), x: TEXT }),
  object({ kty: oneOf("RSA"), n: TEXT, e: TEXT }),
];

/** A statement that a passkey has signed, with its answer. */
const signedOver = (statement: Shape, optional: Readonly<Record<string, Shape>> = {}) =>
  object({
    passkey_id: TEXT,
    public_key: (value) => PUBLIC_KEYS.some((shape) => shape(value)),
    enrolment: TEXT,
    statement,
    assertion: object({
      credential_id: TEXT,
      client_data: TEXT,
      authenticator_data: TEXT,
      signature: TEXT,
    }),
    rp_id: TEXT,
    origin: TEXT,
  }, optional);

/** The parts of an approval that a passkey signs, alone or in a list. */
export const APPROVAL_STATEMENT = signedOver(
  object({
    version: oneOf(1),
    approval: TEXT,
    cycle: COUNT,
    move: oneOf("approved"),
    act: HASH,
    shown_sha256: HASH,
    nonce: TEXT,
  }),
  {
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
  },
);
/** The parts of a call that its person's passkey signs. */
export const CALL_STATEMENT = signedOver(
  object({ version: oneOf(1), call: TEXT, act: HASH, shown_sha256: HASH, nonce: TEXT }),
);

const SHOWN_OF_ALL = {
  reasons: listOf(TEXT),
  reaches: listOf(TEXT),
  requested_by: TEXT,
  tenant_id: TEXT,
};
/** The fields of which the lines of an approval are made. */
export const SHOWN_APPROVAL = object({
  ...SHOWN_OF_ALL,
  approval_id: TEXT,
  subject: TEXT,
  description: TEXT,
  rule: orNull(TEXT),
  evidence: listOf(object({ kind: TEXT, id: TEXT })),
  needed: COUNT,
  action_salt: HASH,
}, { passkey: oneOf(true, false) });
/** The fields of which the lines of a call are made. */
export const SHOWN_CALL = object({
  ...SHOWN_OF_ALL,
  summary: TEXT,
  rule: TEXT,
  action: mapOf(() => true),
});

/** The parts of a standing grant that a passkey signs. */
export const GRANT_STATEMENT = signedOver(
  object({
    version: oneOf(1),
    grant: TEXT,
    move: oneOf("granted"),
    shown_sha256: HASH,
    nonce: TEXT,
  }),
);
/** Terms of a standing grant. */
export const TERMS = object({
  grant_id: TEXT,
  tenant_id: TEXT,
  acts: listOf(object({ approval_id: TEXT, what: TEXT, action_sha256: HASH })),
  max_uses: COUNT,
  expires_at: TIME,
  made_by: TEXT,
  needed: COUNT,
});
