/**
 * Devices: how their requests are signed.
 *
 * ```ts
 * const deviceId = readSigner(signed);
 * if (!verifySigned(signed, device.publicKey)) throw new Problem("Unauthenticated", …);
 * ```
 *
 * @module
 */
export { buildSignatureBase, readSigner, verifySigned } from "./request_signature.ts";
