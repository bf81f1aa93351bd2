/** A ledger can't be restored like this. The signer's state is unchanged. */
export class RestoreRefused extends Error {
  override readonly name = "RestoreRefused";
}
