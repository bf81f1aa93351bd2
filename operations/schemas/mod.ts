/**
 * Schemas that operations of several folders share, with examples.
 *
 * ```ts
 * input: z.object({ ticket_id: TicketId, limit: Limit }),
 * output: z.object({ tickets: z.array(Ticket) }),
 * example: { input: {}, output: { tickets: [exampleTicket] } },
 * ```
 *
 * Schemas of one folder are in that folder. The name of a schema is a noun with a capital; `.meta({ id })` makes it a
 * component of the OpenAPI description.
 * @module
 */
export { oneLine, text, Timestamp, trimmedText } from "../../contract/records/mod.ts";
export { DateTime, EXAMPLE_RUN_ID, Limit, ReceiptId, Sha256, WorkflowId } from "./common.ts";
export { exampleDecision, GovernedCall, toGovernedCall } from "./decisions.ts";
export {
  Check,
  Checks,
  exampleVerifiedReceipt,
  tellVerified,
  toVerifiedReceipt,
  VerifiedReceipt,
} from "./receipts.ts";
export {
  AwaitedApproval,
  completedRun,
  exampleStartedRun,
  StartedRun,
  tellRun,
  WaitSeconds,
} from "./runs.ts";
export {
  exampleTicket,
  Severity,
  Since,
  tellTicket,
  Ticket,
  TicketEvent,
  TicketId,
  TicketStatus,
  TicketWithReceipt,
} from "./tickets.ts";
export { exampleView, IntegrationView, tellView } from "./views.ts";
export {
  Assertion,
  ChallengeId,
  exampleAssertion,
  PasskeyAnswer,
  Registration,
} from "./passkeys.ts";
