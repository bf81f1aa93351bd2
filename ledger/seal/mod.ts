export { requestSeal, type SealState, getSealState, sealTogether } from "./outbox.ts";
export { inOnePiece } from "./_bytes.ts";
export { type SigningKey, loadSigningKey } from "./_key.ts";
export { openSealer, type Requested, type SealedReceipt, type Sealer } from "./sealer.ts";
export { runSequencer, SequencerBusy, type SequencerOptions } from "./sequencer.ts";
