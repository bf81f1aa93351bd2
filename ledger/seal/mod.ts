export { getSealState, requestSeal, type SealState, sealTogether } from "./outbox.ts";
export { inOnePiece } from "./_bytes.ts";
export { openSealer, type Requested, type SealedReceipt, type Sealer } from "./sealer.ts";
export { runSequencer, SequencerBusy, type SequencerOptions } from "./sequencer.ts";
