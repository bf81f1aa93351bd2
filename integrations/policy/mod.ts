/**
 * A second opinion about calls, from an Open Policy Agent of the operator's.
 *
 * ```ts
 * const adviser = openPolicyAdviser(config); // undefined: none is set
 * const { decision, reasons, decisionId } = await adviser.ask(question);
 * ```
 *
 * Doesn't trust: its answer beyond its shape; it can only make a decision stricter.
 * @module
 */
export { openPolicyAdviser, type PolicyAdviser, type PolicyQuestion } from "./opa.ts";
