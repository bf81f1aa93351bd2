/**
 * Approvals with their votes, and the calls that wait for them.
 *
 * ```ts
 * const approval = await lockApproval(trx, id);
 * await addApprovalMove(trx, id, move);
 * ```
 * @module
 */
export {
  acceptVote,
  type ApproverSignature,
  findOpenOffer,
  getOffer,
  getVote,
  listSignatures,
  listStatements,
  listWaitingVotes,
  putVote,
  refuseVote,
  type StoredOffer,
  type VoteMove,
  type VoteRecord,
} from "./approval_votes.ts";
export {
  type ApprovalRecord,
  type ApprovalStatus,
  type Approver,
  dropApproval,
  findApprovalOwner,
  findOffered,
  getApproval,
  listApprovalGroups,
  listApprovals,
  listApprovalsOfGroup,
  lockApproval,
  type NewApproval,
  putApproval,
  setResumedRun,
} from "./approvals.ts";
export { listExpiringApprovals } from "./due.ts";
export {
  beginHeldCall,
  collectHeldCall,
  countWaitingCalls,
  dropHeldCall,
  endHeldCall,
  findHeldCall,
  findHeldCallLike,
  getHeldCall,
  type HeldCall,
  type HeldCallEnd,
  intendHeldCall,
  listEndedCalls,
  type NewHeldCall,
  putHeldCall,
  withdrawHeldCall,
} from "./held_calls.ts";
export {
  addApprovalMove,
  type ApprovalMove,
  countReopenings,
  getMoveReceipt,
  listApprovalMoves,
} from "./approval_moves.ts";
