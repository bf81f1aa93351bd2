/**
 * The life of a call, one file a stage:
 * authenticate → authorize → limit → validate → repeat → govern → run → record; and recover, where a process was killed.
 *
 * ```ts
 * const invoke = createInvoke(platform);
 * const { output, receiptId } = await invoke(operation, { door: "rest", as: "itsm_ticket_close", … });
 * ```
 *
 * Every interface calls operations through {@linkcode createInvoke}; approved calls run through `held_calls/`.
 * @module
 */
export {
  type AccessTokens,
  isAccessToken,
  resourceMetadataUrl,
  TOKEN_SCOPES,
} from "./access_tokens.ts";
export { callerOf } from "./authenticate.ts";
export { ensureAdminKey } from "./admin_key.ts";
export { authorize } from "./authorize.ts";
export { createInvoke } from "./invoke.ts";
export { type FailureLimiter, openFailureLimiter } from "./failure_limiter.ts";
export { type Follower, openFeedWatch, type View } from "./feed_watch.ts";
export { type Keyring, openKeyring } from "./keyring.ts";
export {
  checkNewKey,
  type IssuedKey,
  issueSealedKey,
  mayStillAct,
  revokeSealedKey,
  rotateSealedKey,
} from "./keys.ts";
export { type Context, forTenant, namesOf, operation, type Platform } from "./platform.ts";
export { refuseTenants } from "./operator.ts";
export { receiptIdOf } from "./receipt_ids.ts";
export type { AgentAction } from "./record.ts";
export { followResources } from "./resource_changes.ts";
export {
  CONVERSATIONS,
  refuseOtherKeys,
  refuseOtherTenants,
  runOwner,
  runsOfTenant,
} from "./run_access.ts";
export { awaitedApproval, currentStep, waitForRun } from "./runs.ts";
export {
  decideAgain,
  isWorkersOwn,
  type ServerCall,
  type ServerCallDecision,
} from "./server_calls.ts";
export { openSpanRecorder, type SpanRecorder } from "./span_recorder.ts";
export { followStartedRun, runAlone, runForResult } from "./started_runs.ts";
export { mapTemporalErrors } from "./temporal_errors.ts";
export { createToolServerAuth, type ToolServerAuth } from "./tool_server_auth.ts";
export { retryInBackground } from "./retry.ts";
export { type NewsFollower, type NewsWatch, openNewsWatch } from "./news_watch.ts";
export { buildSignatureBase, readSigner, verifySigned } from "./request_signature.ts";
export { getRunStatus } from "./run_status.ts";
export type { ApprovalSubject, SubjectCall, SubjectVote } from "./approval_subject.ts";
export { describeAwaited } from "./waiting.ts";
export { unknownRecord } from "./unknown_record.ts";
export { ANSWER_SECONDS, type Site, siteOf, usePasskey } from "./passkeys.ts";
