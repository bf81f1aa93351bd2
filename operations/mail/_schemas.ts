import { z } from "zod";
import { EMAIL_STATES } from "../../contract/domain/mod.ts";

/** Id of a mail. */
const EmailId = z.string().regex(/^EML-[0-9a-f]{12}$/, "Expected EML- and 12 hex digits")
  .describe("The mail");

/** Id of a received mail. */
export const ReplyId = z.string().regex(/^RPL-[0-9a-f]{12}$/, "Expected RPL- and 12 hex digits")
  .describe("The received mail");

/** A mail as its sender is told of it. */
export const SentEmail = z.object({
  email_id: EmailId,
  state: z.enum(EMAIL_STATES).describe(
    "held: waits for a person; queued: about to be sent; unknown: all of it was sent, and no answer came",
  ),
  findings: z.array(z.object({ code: z.string(), about: z.string() })).describe(
    "Reasons for which a person looks at it first",
  ),
  approval_id: z.string().optional().describe("What the person decides about, where it is held"),
  message_id: z.string().describe("Its Message-ID, by which mail servers name it"),
  workflow_id: z.string(),
  run_id: z.string(),
});

/** A mail that was sent. */
export const exampleEmail = {
  email_id: "EML-2f9d01b3c7aa",
  state: "queued",
  findings: [],
  message_id: "<EML-2f9d01b3c7aa@sealoop.local>",
  workflow_id: "sendEmail-EML-2f9d01b3c7aa",
  run_id: "0192f0c1-7c1e-7c2a-9b1e-2f4b0e6d8a11",
} as const;
