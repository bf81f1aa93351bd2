/**
 * Private evidence that the operator has opened for somebody, in one file: verified without the platform, by the command and
 * the page in a browser. `verify_ledger.py` applies the same rules, and says the same.
 *
 * ```ts
 * const { exit, lines } = await verifyEvidence(text, trust, primitives);
 * ```
 *
 * Pure. Trusts: the trust file. Doesn't trust: the file of evidence, nor what it names as the ledger's keys.
 * @module
 */
export { BadEvidence, type EvidenceBundle, formatBundle, isEvidenceFile } from "./bundle.ts";
export { verifyEvidence } from "./verify.ts";
