/** Mail: sending it. @module */
import { sendEmail } from "./send.ts";

/** Operations of mail. */
export const mailOperations = [sendEmail];
