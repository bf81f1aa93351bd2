/**
 * The operations of the platform: described functions, which every interface offers from the same definition.
 *
 * ```ts
 * const invoke = createInvoke({ ...parts, operations: registry });
 * createRestApp({ operations, invoke, http, info });
 * ```
 *
 * A folder holds the operations on one resource. Operations that act are named by a verb (`closeTicket`), those that read
 * by a noun (`ticketList`). To add one, write it beside its neighbours and add it to the array of the folder's `mod.ts`.
 * @module
 */
import type { ApprovalSubject, Platform } from "../calls/mod.ts";
import type { Operation } from "../contract/mod.ts";
import { a2aOperations, cancelTask, sendMessage } from "./a2a/mod.ts";
import { adminOperations } from "./admin/mod.ts";
import { agentOperations } from "./agents/mod.ts";
import { approvalOperations } from "./approvals/mod.ts";
import { articleOperations, articleSubject, itemSubject } from "./articles/mod.ts";
import { calendarOperations } from "./calendar/mod.ts";
import { cmdbOperations } from "./cmdb/mod.ts";
import { noticeOperations } from "./notices/mod.ts";
import { complianceOperations } from "./compliance/mod.ts";
import { crmOperations } from "./crm/mod.ts";
import { commandSubject, deviceOperations, deviceSubject } from "./devices/mod.ts";
import { governanceOperations } from "./governance/mod.ts";
import { grantOperations, grantSubject } from "./grants/mod.ts";
import { integrationOperations } from "./integrations/mod.ts";
import { reportOperations } from "./reports/mod.ts";
import { keyOperations } from "./keys/mod.ts";
import { learningOperations } from "./learning/mod.ts";
import { ledgerOperations } from "./ledger/mod.ts";
import { incidentOperations } from "./incidents/mod.ts";
import { mediaOperations } from "./media/mod.ts";
import { modelOperations } from "./models/mod.ts";
import { partnerOperations } from "./partners/mod.ts";
import { emailSubject, mailOperations } from "./mail/mod.ts";
import { peopleOperations } from "./people/mod.ts";
import { platformOperations } from "./platform/mod.ts";
import { reasoningOperations } from "./reasoning/mod.ts";
import { securityOperations } from "./security/mod.ts";
import { shieldOperations } from "./shield/mod.ts";
import { boardOperations } from "./board/mod.ts";
import { tenantOperations } from "./tenants/mod.ts";
import { webhookOperations } from "./webhooks/mod.ts";
import { workflowOperations } from "./workflows/mod.ts";

export { cancelTask, sendMessage };

/** Kinds of things that approvals can be about. */
export const approvalSubjects: readonly ApprovalSubject<Platform>[] = [
  commandSubject,
  deviceSubject,
  emailSubject,
  articleSubject,
  itemSubject,
  grantSubject,
];

/** All operations that interfaces list, in the order of the descriptions. */
export const operations: readonly Operation<Platform>[] = [
  ...platformOperations,
  ...ledgerOperations,
  ...keyOperations,
  ...reportOperations,
  ...cmdbOperations,
  ...workflowOperations,
  ...incidentOperations,
  ...webhookOperations,
  ...mailOperations,
  ...approvalOperations,
  ...peopleOperations,
  ...grantOperations,
  ...boardOperations,
  ...calendarOperations,
  ...noticeOperations,
  ...governanceOperations,
  ...tenantOperations,
  ...deviceOperations,
  ...securityOperations,
  ...complianceOperations,
  ...shieldOperations,
  ...integrationOperations,
  ...learningOperations,
  ...reasoningOperations,
  ...crmOperations,
  ...articleOperations,
  ...mediaOperations,
  ...partnerOperations,
  ...adminOperations,
  ...agentOperations,
  ...modelOperations,
  ...a2aOperations,
];

/** All operations by name, with those that only A2A calls: the registry of a {@linkcode Platform}. */
export const registry: ReadonlyMap<string, Operation<Platform>> = new Map(
  [...operations, sendMessage, cancelTask].map((operation) => [operation.name, operation]),
);
