/** Why a passkey's answer does not count. */
export type PasskeyFault =
  | "malformed"
  | "type"
  | "challenge"
  | "origin"
  | "rp_id"
  | "user_verification"
  | "algorithm"
  | "credential"
  | "signature"
  | "list"
  | "count";

/** A passkey's answer does not count. The message says why, for the person. */
export class PasskeyError extends Error {
  override readonly name = "PasskeyError";
  readonly code: PasskeyFault;

  constructor(code: PasskeyFault, message: string) {
    super(message);
    this.code = code;
  }
}
