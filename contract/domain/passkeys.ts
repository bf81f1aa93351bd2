/** A public key, as RFC 7517 has it. */
export type PublicJwk =
  | { readonly kty: "EC"; readonly crv: "P-256"; readonly x: string; readonly y: string }
  | { readonly kty: "OKP"; readonly crv: "Ed25519"; readonly x: string }
  | { readonly kty: "RSA"; readonly n: string; readonly e: string };

/** A credential that an authenticator holds for one person. */
export interface Passkey {
  /** Base64url. */
  readonly credential_id: string;
  readonly public_key: PublicJwk;
}

/** A browser's answer that a passkey has signed, its fields base64url. */
export interface Assertion {
  readonly credential_id: string;
  readonly client_data: string;
  readonly authenticator_data: string;
  readonly signature: string;
}

/** A person's answer to a challenge. */
export interface PasskeyAnswer {
  /** 32 hex characters. */
  readonly challenge_id: string;
  readonly assertion: Assertion;
}

/** A browser's answer about a new credential, its fields base64url. What its maker attests is not asked for. */
export interface Registration {
  readonly credential_id: string;
  readonly client_data: string;
  readonly authenticator_data: string;
}

/** The statement that a person's passkey signs when they approve. */
export interface ApprovalStatement {
  readonly version: 1;
  /** `APR-` and 12 hex characters. */
  readonly approval: string;
  /** How often the approval was reopened: what was said before that does not count after it. */
  readonly cycle: number;
  readonly move: "approved";
  /** How the public receipts name the action: SHA-256 of a salt and the action. */
  readonly act: string;
  /** SHA-256 of the lines that were shown, each with a line feed. */
  readonly shown_sha256: string;
  /** 32 random hex characters, given out once. */
  readonly nonce: string;
}

/** The statement that a person's passkey signs when they approve several at once. */
export interface ListStatement {
  readonly version: 1;
  readonly move: "approved";
  /** Number of approvals. */
  readonly size: number;
  /** Root of the Merkle tree over the canonical JSON of the single statements, hex (RFC 6962). */
  readonly root: string;
  /** 32 random hex characters, given out once; each single statement has another one. */
  readonly nonce: string;
}

/** The place of a statement in a list that was signed. */
export interface ListPlace {
  readonly statement: ListStatement;
  /** From 0. */
  readonly index: number;
  /** Hashes that lead from the statement to the root, hex (RFC 9162 §2.1.3). */
  readonly path: readonly string[];
}

/** Terms of a standing grant, as people are shown them. */
export interface GrantTerms {
  /** `GRN-` and 12 hex characters. */
  readonly grant_id: string;
  readonly tenant_id: string;
  /** Exactly these actions, each as people were asked about it once. */
  readonly acts: readonly {
    readonly approval_id: string;
    /** The tool, or the runbook and its service. */
    readonly what: string;
    readonly action_sha256: string;
  }[];
  /** How often, all acts together. */
  readonly max_uses: number;
  /** ISO 8601. */
  readonly expires_at: string;
  /** Principal. */
  readonly made_by: string;
  /** How many people it takes, the one who makes it among them. */
  readonly needed: number;
}

/** The statement that a person's passkey signs when they make a standing grant. */
export interface GrantStatement {
  readonly version: 1;
  readonly grant: string;
  readonly move: "granted";
  /** SHA-256 of the lines that were shown, each with a line feed. */
  readonly shown_sha256: string;
  /** 32 random hex characters, given out once. */
  readonly nonce: string;
}

/** The statement that a person's passkey signs when they make a call that a rule leaves to people. */
export interface CallStatement {
  readonly version: 1;
  /** Name of the operation. */
  readonly call: string;
  /** SHA-256 of the call's canonical JSON: operation, name, arguments, key and tenant. */
  readonly act: string;
  /** SHA-256 of the lines that were shown, each with a line feed. */
  readonly shown_sha256: string;
  /** 32 random hex characters, given out once. */
  readonly nonce: string;
}

/** A person's signed grant. */
export type SignedGrant = SignedStatement<GrantStatement>;

/** A person's signed statement. */
export interface SignedStatement<Statement = ApprovalStatement> {
  /** `PKY-` and 12 hex characters. */
  readonly passkey_id: string;
  readonly public_key: PublicJwk;
  /** Receipt of the passkey's enrolment. */
  readonly enrolment: string;
  readonly statement: Statement;
  /** Absent: the assertion is over the statement itself, and over no list. */
  readonly list?: ListPlace;
  readonly assertion: Assertion;
  /** Domain for which the passkey is. */
  readonly rp_id: string;
  /** Page on which it was asked for. */
  readonly origin: string;
}
