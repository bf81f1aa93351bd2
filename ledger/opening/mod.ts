/**
 * Opens private evidence for somebody, in a file that they can verify without the platform.
 *
 * ```ts
 * const bundle = await bundleEvidence(store, await readOpenable(store, "APR-5b1e09c77a42"));
 * ```
 * @module
 */
export { bundleEvidence, readOpenable } from "./open_evidence.ts";
