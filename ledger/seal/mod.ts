export { requestSeal, type SealState, sealState, sealTogether } from "./outbox.ts";
export { inOnePiece } from "./_bytes.ts";
export { type SigningKey, signingKey } from "./_key.ts";
export { openSealer, type Requested, type Sealed, type Sealer } from "./sealer.ts";
export { runSequencer, SequencerBusy, type SequencerOptions } from "./sequencer.ts";
