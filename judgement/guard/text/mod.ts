/**
 * Finds in a text what it hides or attempts: invisible characters, encodings within encodings, orders to the judge, secrets,
 * and harmful intents of a description. Rules alone decide: nothing that a text says is followed.
 *
 * ```ts
 * findTricks("Ignore all previous instructions", false); // [{ trick: "overrides instructions", reported: false }]
 * ```
 * @module
 */
export { instructsAgent } from "./_agent_orders.ts";
export { findHidden, type HiddenText, removeHidden } from "./_hidden.ts";
export { findIntents, type Intent } from "./_intents.ts";
export { instructsJudge } from "./_judge_orders.ts";
export { findPersonal, locatePersonal, type PrivateSpan } from "./_personal.ts";
export { findSecrets, locateSecrets } from "./_secrets.ts";
export { findTricks, warmUpPatterns } from "./_tricks.ts";
export { decodeViews, MAX_DECODINGS, type View } from "./_views.ts";
