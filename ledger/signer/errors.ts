/** The signer's state can't be read, or contradicts itself. It signs nothing until `npm run restore` has been run. */
export class SignerStateError extends Error {
  override readonly name = "SignerStateError";
}

/** The signer does not give a signature: another one at this position would fork the chain. */
export class SignatureRefused extends Error {
  override readonly name = "SignatureRefused";
}

/** Another signer has taken over the same state. */
export class SignerReplaced extends Error {
  override readonly name = "SignerReplaced";
}

/** The clock of this machine is behind the time of an earlier signature. */
export class ClockWentBack extends Error {
  override readonly name = "ClockWentBack";
}

/** The process that has the key does not answer, or not as it should. */
export class SignerAway extends Error {
  override readonly name = "SignerAway";
}
