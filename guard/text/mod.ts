/**
 * What a text means to whoever reads it: hidden characters, encodings within encodings, orders to the judge, secrets, and
 * what a description in plain words would do. Rules alone: nothing that a text says is followed.
 * @module
 */
export { ordersAnAgent } from "./_agents.ts";
export { ordersTheJudge } from "./_cues.ts";
export { type Hidden, hiddenIn, visible } from "./_hidden.ts";
export { type Found, prepareTricks, type Trick, tricksIn } from "./_injection.ts";
export { type Intent, intentsOf, type Meant } from "./_intent.ts";
export { secretsIn } from "./_secrets.ts";
export { type View, viewsOf } from "./_views.ts";
