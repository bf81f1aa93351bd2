/** Mail: sending it, in sequences and with invitations, and what was received. @module */
import { bookAppointment } from "./appointment.ts";
import { emailReplies } from "./replies.ts";
import { sendEmail } from "./send.ts";
import { triggerWorkflow } from "./sequence.ts";

/** Operations of mail. */
export const mailOperations = [sendEmail, triggerWorkflow, bookAppointment, emailReplies];

export { emailSubject } from "./approval.ts";
