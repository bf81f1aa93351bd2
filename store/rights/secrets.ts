import type { Role } from "../roles.ts";
import { type Grantee, WORKING } from "./grantees.ts";

/**
 * The platform's secrets by their purpose, each with the roles that make or check what it makes. A secret of one purpose
 * is no help in another: it is a column of `platform_secrets`, which its roles alone may read. The columns, the rights on
 * them and the purposes of `keyedHash` follow from this list.
 */
export const SECRETS = {
  // Authority: whoever knows the secret can make what others obey.
  /** MACs of what Temporal keeps for the platform: the processes that talk to it. */
  temporal_payloads: [...WORKING, "sequencer"],
  /** Ids of actions, by which a repair knows that the loop has found it. */
  actions: ["worker"],
  /** Codes by which machines enrol. */
  enrolment_codes: ["gateway"],
  /** Links to the calendars of keys. */
  calendar_links: ["gateway"],
  /** Links in mail by which its recipient opts in. */
  opt_in_links: ["gateway", "worker"],
  /** Links in mail by which its recipient opts out. Whoever writes a mail puts one in. */
  opt_out_links: WORKING,

  // Privacy: whoever knows the secret can test a guess at a text that an id was made from.
  /** How public receipts of an approval name the people who decide about it. */
  voters: ["worker"],
  /** Fingerprints of faults. */
  faults: WORKING,
  /** Texts that payloads name. */
  private_texts: WORKING,
  /** Addresses that must not be mailed. */
  suppressions: [...WORKING, "operator"],
  /** Tasks and runs that a repeated message joins. */
  messages: WORKING,
  /** Receipts of callers' own events, by the caller's id. */
  sealed_events: WORKING,
  /** Received mail. */
  received_mail: ["worker"],
  /** Answers that the platform gives by itself. */
  automatic_answers: ["worker"],
  /** Receipts of what devices state. */
  device_statements: ["gateway"],
} as const satisfies Readonly<Record<string, readonly Grantee[]>>;

/** The purpose of a secret: the column that it stands in. */
export type SecretPurpose = keyof typeof SECRETS;

/** Returns whether a role makes or checks what a secret is for. */
export function mayReadSecret(role: Role, purpose: SecretPurpose): boolean {
  return role === "owner" || (SECRETS[purpose] as readonly Grantee[]).includes(role);
}
