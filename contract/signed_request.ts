/** The parts of a request that a device signs. @see RFC 9421 */
export interface SignedRequest {
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** From the question mark on; `?` where there is none. */
  readonly query: string;
  /** Headers as sent; empty where they were not. */
  readonly contentDigest: string;
  readonly signatureInput: string;
  readonly signature: string;
  /** SHA-256 of the body's bytes. */
  readonly bodySha256: Buffer;
}
