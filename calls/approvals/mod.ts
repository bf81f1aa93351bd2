/**
 * The approval queue: what waits for people, who may decide, and what their votes lead to.
 *
 * ```ts
 * const decision = await holdCall(platform, call, evaluation, 20, recordRefusal);
 * const { approval, receiptId } = await castVote("approved", approvalId, reason, context);
 * ```
 *
 * Trusts: votes in the database, which the gateway stores for a valid key. Doesn't trust: what reaches a workflow.
 * @module
 */
export { actionOf, bindAction, sha256 } from "./action.ts";
export { approvalWorkflowId, existingApproval, openApproval } from "./ask.ts";
export { targetOfAction } from "./group.ts";
export { groundsOfRequest } from "./grounds.ts";
export { moveApproval, type MoveOrder, type MoveResult } from "./moves.ts";
export { noticeOf, terminalLine } from "./notice.ts";
export { type ApprovalOpening, type OpenedApproval, recordOpening } from "./opening.ts";
export { countedApprovers } from "./rights.ts";
export { hasApproved, putQuestion, type StoredQuestion } from "./question.ts";
export { findSameCall, holdCall, repeatHeldCall } from "./queue.ts";
export { castVotes, MAX_LISTED, proposeList } from "./lists.ts";
export { offerCall, offerSubject } from "./offer.ts";
export { castVote, checkVote, deliverVotes } from "./votes.ts";
export { asSigner, takeCallStatement } from "./call_statement.ts";
export { proposeStatement, useOwnPasskey } from "./statement.ts";
export { subjectOf } from "./subject.ts";
export { voterOf } from "./voter.ts";
