import { loadSigningKey } from "../crypto/mod.ts";
import { startSignThread } from "./_sign_thread.ts";

/**
 * A key that signs receipts: Ed25519, over the bytes as they are (RFC 8032, without a hash before). It remembers nothing;
 * the signer's journal does. A key of PKCS#11 (`CKM_EDDSA`) or of a cloud's KMS fits behind these calls, or behind the
 * two requests of {@linkcode serveKey}.
 */
export interface ReceiptKey {
  /** 32 bytes. */
  readonly publicKey: Buffer;
  /** Returns signatures of 64 bytes each, in the order of the messages. */
  sign(messages: readonly Uint8Array[]): Promise<Buffer[]>;
  close(): Promise<void>;
}

/** Opens the key of a file, which is made where there is none. It signs in a thread. @throws {BadKeyFile} */
export function openFileKey(keyFile: string): ReceiptKey {
  const { publicKey, privateKey } = loadSigningKey(keyFile);
  return { publicKey, ...startSignThread(privateKey) };
}
