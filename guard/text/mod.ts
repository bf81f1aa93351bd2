/**
 * What a text means to whoever reads it: hidden characters, encodings within encodings, orders to the judge, secrets, and
 * what a description in plain words would do. Rules alone: nothing that a text says is followed.
 * @module
 */
export { instructsAgent } from "./_agent_orders.ts";
export { instructsJudge } from "./_judge_orders.ts";
export { findHidden, type HiddenText, removeHidden } from "./_hidden.ts";
export { findTricks, type Trick, type TrickMatch, warmUpPatterns } from "./_tricks.ts";
export { findIntents, type Intent, type IntentMatch } from "./_intents.ts";
export { findSecrets } from "./_secrets.ts";
export { decodeViews, type View } from "./_views.ts";
