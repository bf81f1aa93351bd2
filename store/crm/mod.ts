/**
 * Contacts, their deals and their mail, applications of partners, and the erasing of a person.
 *
 * ```ts
 * const contact = await lockContact(trx, id);
 * await updateContact(trx, id, fields);
 * ```
 * @module
 */
export type { Person } from "./_erase_text.ts";
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
  type ErasedRows,
  erasePerson,
  listFormerValues,
  listRecordings,
  listWaitingApprovals,
  listWaitingArticles,
  listWaitingMails,
  listWaitingMedia,
} from "./erasure.ts";
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
