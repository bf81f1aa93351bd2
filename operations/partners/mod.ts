/** Applications of partners: the website's form, and what people decide about them. @module */
import { applyAsPartner } from "./apply.ts";
import { applicationList, decideApplication } from "./review.ts";

/** Operations of this folder. */
export const partnerOperations = [
  applyAsPartner,
  applicationList,
  decideApplication,
];
