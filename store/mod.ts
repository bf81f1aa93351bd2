/**
 * PostgreSQL: connections by role, migrations, notifications, and the statements on every table but the ledger's.
 *
 * ```ts
 * const store = openStore(url, "worker");
 * const db = store.asPlatform();
 * await db.transaction(async (trx) => {
 *   if (await openTicket(trx, ticket)) await addTicketEvent(trx, ticket.id, { key: "opened", kind: "opened" });
 * });
 * ```
 *
 * Trusts: the server. The ledger doesn't: its receipts prove themselves (see `ledger/`).
 * @module
 */
export {
  dropTask,
  getTask,
  getTaskOfAnyKey,
  listTasks,
  listTasksOfApproval,
  putTask,
  TASKS_CHANGED,
} from "./a2a_tasks.ts";
export { addNote, type AgentNote, countNotes, listNotes } from "./agent_notes.ts";
export {
  acceptVote,
  type ApproverSignature,
  getVote,
  listSignatures,
  listWaitingVotes,
  putVote,
  refuseVote,
  type VoteMove,
  type VoteRecord,
} from "./approval_votes.ts";
export {
  addApprovalMove,
  type ApprovalMove,
  type ApprovalRecord,
  type Approver,
  dropApproval,
  findApprovalOwner,
  getApproval,
  getMoveReceipt,
  listApprovalMoves,
  listApprovals,
  listPendingApprovals,
  lockApproval,
  type NewApproval,
  putApproval,
  setResumedRun,
} from "./approvals.ts";
export {
  addBoardTask,
  type BoardTask,
  type BoardTaskFields,
  type BoardTaskFilter,
  deleteBoardTask,
  getBoardTask,
  listBoardTasks,
  lockBoardTask,
  TASK_STATUSES,
  type TaskStatus,
  tellDueTasks,
  updateBoardTask,
} from "./board_tasks.ts";
export { batch } from "./batch.ts";
export {
  type BusySpan,
  cancelEvent,
  EVENT_KINDS,
  type EventKind,
  type EventRecord,
  findBusySpans,
  findMaintenance,
  type Freeze,
  getEvent,
  getLinkGeneration,
  listActiveFreezes,
  listEventsSince,
  listEventsToExtend,
  listOccurrences,
  lockCalendar,
  type Maintenance,
  type NewEvent,
  putEvent,
  putOccurrences,
  recordExtension,
  renewLink,
  type Span,
} from "./calendar.ts";
export {
  CALL_EFFECTS_DAYS,
  type CallEffects,
  getCallEffects,
  noteCallEffects,
  pruneCallEffects,
} from "./call_effects.ts";
export { type Commitment, commitTo, computeCommitment, makeSalt } from "./commitment.ts";
export { countReceiptsByCategory, getStoredFacts, type StoredFacts } from "./compliance.ts";
export {
  type Db,
  inTenant,
  openStore,
  type Row,
  type Store,
  WrongDatabaseRole,
} from "./connection.ts";
export {
  addDeal,
  type Deal,
  type DealFields,
  type DealPlace,
  type DealStatus,
  getDeal,
  getStageFigures,
  getStayFigures,
  listDeals,
  listQuietDeals,
  lockDeal,
  moveDeal,
  type QuietDeal,
  type StageFigures,
  type StayFigures,
  updateDeal,
} from "./deals.ts";
export {
  addConversation,
  type Conversation,
  type ConversationMessage,
  countConversationMessages,
  findNewestConversation,
  getConversation,
  listConversationMessages,
} from "./conversations.ts";
export {
  deleteLogPlaces,
  getLogPlace,
  getProbeHistories,
  type ProbeHistory,
  putLogPlace,
  putProbeHistories,
} from "./detector_memory.ts";
export {
  addContact,
  type Consent,
  CONSENTS,
  type ConsentState,
  type Contact,
  type ContactFields,
  findContactByEmail,
  getContact,
  listContacts,
  lockContact,
  type NewConsent,
  setConsent,
  updateContact,
} from "./contacts.ts";
export {
  type Activity,
  ACTIVITY_KINDS,
  type ActivityFilter,
  type ActivityKind,
  addActivity,
  listActivities,
  type NewActivity,
} from "./crm_activities.ts";
export { type DigestFacts, type DigestPart, getDigestFacts } from "./crm_digest.ts";
export {
  addDevice,
  countDevices,
  type DeviceRecord,
  findDevice,
  findEnrolment,
  getDevice,
  listDevices,
  type NewDevice,
  noteApprovers,
  quarantineDevice,
  releaseDevice,
  renewEnrolment,
  setReplaced,
  type UsedCode,
  useEnrolmentCode,
} from "./devices.ts";
export {
  type DeviceFigures,
  findGraphDevices,
  getDeviceFigures,
  type GraphDevice,
} from "./device_figures.ts";
export {
  DEVICE_STATUSES,
  type DevicePresence,
  type DeviceStatus,
  listPresence,
  markOffline,
  watchGateways,
} from "./device_presence.ts";
export { type ExpiringApproval, listExpiringApprovals } from "./due.ts";
export { dumpDatabase, DumpRefused, loadDatabase } from "./dump.ts";
export {
  abandonEffects,
  type EffectRecord,
  endEffect,
  findNeededEffects,
  getEffect,
  intendEffect,
  listEffectsOfAction,
} from "./effects.ts";
export {
  countServicesByStatus,
  countTicketsByStatus,
  getPlatformCounts,
  getResolutionFigures,
} from "./figures.ts";
export { type EmailAddress, normalizeEmail } from "./email.ts";
export { ERASABLE } from "./_erasable.ts";
export type { Person } from "./_erase_text.ts";
export {
  type ErasedRows,
  erasePerson,
  listFormerValues,
  listWaitingApprovals,
  listWaitingMails,
} from "./erasure.ts";
export {
  getReply,
  hasAutoReply,
  hasReplied,
  listReplies,
  type NewReply,
  putReply,
  type ReplyCitation,
  type ReplyRecord,
  type ReplyState,
  setReplyDraft,
} from "./email_replies.ts";
export {
  type AttemptEnd,
  beginAttempt,
  countRecipients,
  dropEmail,
  type EmailRecord,
  endAttempt,
  findEmailByMessageId,
  getEmail,
  hasOtherAnswer,
  listOpenEmails,
  lockEmail,
  mayReviveEmail,
  type NewEmail,
  noteEnding,
  putEmail,
  reviveEmail,
  setEmailReceipt,
  settleEmail,
} from "./emails.ts";
export {
  clearFinding,
  clearOtherFindings,
  type FindingRecord,
  getFinding,
  getFindings,
  listDetectorRuns,
  listFindingsOfDependencies,
  listOpenFindings,
  type NewFinding,
  pruneFindings,
  recordDetectorRun,
  recordFindings,
} from "./findings.ts";
export {
  addStop,
  type DatedStop,
  type DecisionFigures,
  type DecisionRecord,
  FILE_STOP,
  findStop,
  getDecision,
  getDecisionFigures,
  governanceInForce,
  listDecisions,
  type ListedDecision,
  listStops,
  recordDecisions,
  removeStop,
  type Stop,
  stopFor,
  type StopSubject,
} from "./governance.ts";
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
  type NewHeldCall,
  putHeldCall,
  withdrawHeldCall,
} from "./held_calls.ts";
export {
  beginIdempotentCall,
  type CallClaim,
  claimCall,
  endIdempotentCall,
  failIdempotentCall,
  getIdempotentCall,
  type IdempotentCall,
  type KeptCall,
  type KeptEnd,
  type KeptError,
  pruneIdempotentCalls,
  takeOverCall,
} from "./idempotent_calls.ts";
export {
  addHeartbeatBatch,
  findHeartbeatBatch,
  getNewestBatchReceipt,
  type HeartbeatBatch,
  listSeenDevices,
  type SeenDevice,
} from "./heartbeat_batches.ts";
export {
  addSplitView,
  beginHeartbeat,
  type BegunHeartbeat,
  DEVICE_NEWS,
  endHeartbeat,
  getNewestHeartbeat,
  type Heartbeat,
  type Journal,
  type NewestHeartbeat,
  notifyDevice,
  setFirewall,
  type SplitView,
  takeOverHeartbeat,
} from "./heartbeats.ts";
export { type Holder, HOLDER_LOCK, isHolderGone, openHolder } from "./holder.ts";
export {
  getInventory,
  type InventoryTexts,
  putInventory,
  setInventoryHash,
} from "./inventories.ts";
export { fingerprintFault, keyedHash } from "./keyed_hash.ts";
export {
  expireKey,
  findKeyById,
  findKeys,
  findValidKeys,
  getPrincipal,
  hasAdminKey,
  hashKey,
  isKeyShaped,
  issueKey,
  type KeyListing,
  type KeyReceipt,
  type KeyRecord,
  KEYS_CHANGED,
  listKeys,
  listUnusedKeys,
  makeKey,
  type NewKey,
  revokeKey,
  touchKeys,
} from "./keys.ts";
export { type FlagRecord, isFlagSet, listFlags, lockFlags, putFlag } from "./flags.ts";
export {
  countPassages,
  type IntegrationHealth,
  listIntegrationHealth,
  recordIntegrationHealth,
} from "./integrations.ts";
export {
  type KnowledgeChange,
  listUnlearntTickets,
  type NewPassage,
  type ResolvedTicket,
  storeArticles,
  storeIncidents,
} from "./knowledge.ts";
export { getPassageTexts, type PassageMatch, searchKnowledge } from "./knowledge_search.ts";
export {
  addLearningItems,
  applyLearningItem,
  getLearningItem,
  type LearningItem,
  type LearningRecord,
  listQueuedLearningItems,
} from "./learning.ts";
export { getLearningMetrics } from "./learning_metrics.ts";
export {
  openUsageMeter,
  pruneUsage,
  type UsageCount,
  type UsageMeter,
  type Use,
} from "./limits.ts";
export { listen, type Listener } from "./listen.ts";
export {
  findModelUse,
  getModelSpending,
  listLostModelUses,
  MODEL_USE_DAYS,
  type ModelBudget,
  type ModelBudgets,
  type ModelCharge,
  type ModelUse,
  type ModelUseEnd,
  type NewModelUse,
  pruneModelUses,
  reserveModelUse,
  settleModelUse,
} from "./model_uses.ts";
export {
  addDelivery,
  addPlannedDeliveries,
  getDelivery,
  listDeliveriesOf,
  listUnstartedNotices,
  markNoticeStarted,
  type MessageDelivery,
  type MessageDeliveryState,
  needsPeople,
  type PlannedMessageDelivery,
  recordDelivery,
  routeMessages,
  skipDeliveries,
} from "./message_deliveries.ts";
export {
  addMessage,
  getMessage,
  getMessageByKey,
  getNewestPosition,
  getPositionAt,
  listMessages,
  listMessagesAfter,
  type Message,
  type MessageFilter,
  MESSAGES_ADDED,
  type NewMessage,
} from "./messages.ts";
export { migrate } from "./migrate.ts";
export {
  type AbandonedCall,
  listAbandonedCalls,
  listOverdueHeldCalls,
  settleCall,
  settleEndedCalls,
} from "./open_calls.ts";
export {
  countOpenBreaks,
  getDatabaseState,
  getOutboxState,
  getSealingTrouble,
  type OutboxState,
  type SealingTrouble,
} from "./platform_state.ts";
export {
  currentPolicy,
  getPolicyFileStatus,
  type PolicyChange,
  type PolicyRecord,
  type PolicyVersion,
  setPolicy,
  setPolicyFileStatus,
} from "./policies.ts";
export {
  addApplication,
  APPLICATION_MOVES,
  type ApplicationStatus,
  getApplication,
  listApplications,
  moveApplication,
  type NewApplication,
  type PartnerApplication,
  takeApplicationId,
} from "./partner_applications.ts";
export { getPrivateTexts, prunePrivateTexts, putPrivateTexts } from "./private_texts.ts";
export {
  addAnswer,
  addQuestion,
  countWaitingQuestions,
  dropQuestion,
  type EarlierTurn,
  getQuestionText,
  hasConversationMessage,
  listEarlierTurns,
  type NewAnswer,
  type StoredQuestion,
  takeQuestion,
} from "./questions.ts";
export { getRepairFigures, getRepairHistory, listRepairsOfTicket, type Repair } from "./repairs.ts";
export { FUNCTIONS, type Grant, type Grantee, RIGHTS, SEAL_CATEGORIES } from "./rights.ts";
export { createDatabaseSql, createRolesSql, FUNCTION_OWNERS, type Role, ROLES } from "./roles.ts";
export {
  getRunbookValues,
  listRunbooks,
  replaceCommands,
  replaceRunbooks,
  replaceRunbookValues,
} from "./runbooks.ts";
export { getScript, listScripts, replaceScripts, type ScriptRelease } from "./scripts.ts";
export {
  countDeviceCommands,
  type DeviceCommandEnd,
  type DeviceCommandRecord,
  dropDeviceCommand,
  endDeviceCommand,
  getCommandSequence,
  getDeviceCommand,
  getTime,
  listDeviceCommands,
  listOpenDeviceCommands,
  lockDeviceCommand,
  type NewDeviceCommand,
  nextCommandSequence,
  noteBegun,
  noteIssued,
  noteSealed,
  putDeviceCommand,
  queueDeviceCommand,
} from "./device_commands.ts";
export { keepOutput, listUndelivered, noteDelivered, noteOffered } from "./device_deliveries.ts";
export {
  addStatement,
  getStatement,
  getStatementSequence,
  hasEgressStatement,
  type StatementRecord,
} from "./device_statements.ts";
export {
  type Dependency,
  EDGE_KINDS,
  type EdgeKind,
  findPath,
  getImpact,
  getServiceGraph,
  IMPACT_DEPTH,
  listReached,
  type RelatedService,
  type ServiceEdge,
} from "./service_graph.ts";
export { findServices, getCmdbSummary, type ServiceMatch } from "./service_search.ts";
export {
  type DeclaredPort,
  getService,
  listServiceNames,
  listServicesWithPorts,
  listTestServiceNames,
  listWatchedServices,
  putDiscoveredServices,
  putService,
  putServices,
  recordProbeResults,
  removeService,
  replaceServices,
  type ServiceRecord,
  type ServiceWithPorts,
} from "./services.ts";
export {
  countRepeatSightings,
  escalateTicketOfRun,
  findTicketOfRun,
  getRepeatSightings,
  listEscalatedFaults,
  listOpenRuns,
  lockOpenTicket,
  takeOverTicket,
} from "./ticket_runs.ts";
export {
  findSuppression,
  liftSuppression,
  lockAddress,
  type MailPermission,
  mayMail,
  suppressEmail,
  type SuppressionReason,
} from "./suppressions.ts";
export {
  addApprovers,
  type Approvers,
  type ApproversVersion,
  getApprovers,
  getApproversVersion,
} from "./tenant_approvers.ts";
export {
  findTenantToken,
  findTenantTokenById,
  getTenantToken,
  replaceTenantToken,
  revokeTenantTokens,
  type TenantToken,
} from "./tenant_tokens.ts";
export { type DeviceServicesRecord, listDeviceServices } from "./device_services.ts";
export {
  type DeviceFactsRecord,
  findDevicesByAddress,
  listDeviceFacts,
  listMeshMeasurements,
  type MeshMeasurement,
} from "./shield.ts";
export {
  addTenant,
  ensureTenant,
  getTenantRecord,
  listTenantRecords,
  listTenants,
  listWatchedTenants,
  markTenantSynced,
  type TenantRecord,
} from "./tenants.ts";
export {
  addTicketEvent,
  addTicketEvents,
  escalateTicket,
  type NewTicket,
  openTicket,
  replaceTicketReceipt,
  resolveTicket,
  type TicketEvent,
} from "./ticket_writes.ts";
export {
  getNewestTicketChange,
  getTicket,
  getTicketEvent,
  listCancelledTickets,
  listTicketChanges,
  listTicketEvents,
  listTickets,
  type Ticket,
  type TimelineEvent,
} from "./tickets.ts";
export { openUnknownCallTicket, unknownCallTicketId } from "./unknown_calls.ts";
export {
  type Delivery,
  getOutgoingDelivery,
  listDeliveries,
  listUnstartedDeliveries,
  markDeliveryStarted,
  type OutgoingDelivery,
  pruneDeliveries,
  queueApprovalDeliveries,
  recordDeliveryAttempt,
  WEBHOOKS_QUEUED,
} from "./webhook_deliveries.ts";
export {
  countWebhooks,
  disableWebhook,
  getWebhookSecret,
  listWebhooks,
  putWebhook,
  removeWebhook,
  TICKET_EVENTS,
  WEBHOOK_EVENTS,
  type WebhookEvent,
} from "./webhooks.ts";
