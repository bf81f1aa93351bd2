/**
 * A register of compliance of the operator's: CISO Assistant.
 *
 * ```ts
 * const register = openCisoAssistant(config); // undefined: none is set
 * const { frameworks, risk_scenarios } = await register.count();
 * ```
 *
 * Doesn't trust: its answers beyond their shape.
 * @module
 */
export { type GrcClient, openCisoAssistant } from "./ciso_assistant.ts";
