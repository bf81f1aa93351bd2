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
  findContactByEmail,
  getContact,
  listContacts,
  lockContact,
  setConsent,
  updateContact,
} from "./contacts.ts";
export { addActivity, listActivities } from "./crm_activities.ts";
export { type DigestPart, getDigestFacts } from "./crm_digest.ts";
export {
  addDeal,
  type DealPlace,
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
