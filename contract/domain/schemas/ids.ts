/** The ids and names that arguments are made of, each by its pattern. */
import { z } from "zod";
import { DRILL_SERVICE_PATTERN } from "../drills.ts";

const hexId = (prefix: string) =>
  z.string().regex(
    new RegExp(`^${prefix}-[0-9a-f]{12}$`),
    `Expected ${prefix}- and 12 hex characters`,
  );

/** Id of an act in a system of the operator's. */
export const ActId = hexId("ACT");
/** Id of an approval. */
export const ApprovalId = hexId("APR");
/** Id of an article. */
export const ArticleId = hexId("ART");
/** Id of a command for a device. */
export const CommandId = hexId("CMD");
/** Id of a contact. */
export const ContactId = hexId("CON");
/** Id of a conversation. */
export const ConversationId = hexId("CONV");
/** Id of a device. */
export const DeviceId = hexId("DEV");
/** Id of a mail that is sent. */
export const EmailId = hexId("EML");
/** Id of a ticket. */
export const TicketId = hexId("INC");
/** Id of an item of the publishing pipeline. */
export const ItemId = hexId("ITEM");
/** Id of a message to people, or of a question to an agent. */
export const MessageId = hexId("MSG");
/** Id of a received mail. */
export const ReplyId = hexId("RPL");
/** Id of a vote. */
export const VoteId = hexId("VOT");
/** Id of a request for media: speech, a transcript or a film. */
export const MediaId = z.string().regex(
  /^[A-Z]{3}-[0-9a-f]{12}$/,
  "Expected three letters, - and 12 hex characters",
);
/** Id of what has allowed an act: a decision, or an approval. */
export const DecisionId = z.string().regex(
  /^(GOV|APR)-[0-9a-f]{12}$/,
  "Expected GOV- or APR- and 12 hex characters",
);
/** Id of a delivery to a webhook. */
export const DeliveryId = z.string().regex(
  /^msg_[0-9a-f]{32}$/,
  "Expected msg_ and 32 hex characters",
);
/** Id of a drill, from which the name of its service is made. */
export const DrillId = z.string().regex(/^[0-9a-f]{8}$/, "Expected 8 hex characters");
/** Name of the service of a drill. */
export const DrillService = z.string().regex(
  new RegExp(DRILL_SERVICE_PATTERN),
  "Expected test- or attack- and 8 hex characters",
);
/** Fingerprint of a fault. */
export const Fingerprint = z.string().regex(/^[0-9a-f]{16}$/, "Expected 16 hex characters");
/** A SHA-256. */
export const Digest = z.string().regex(/^[0-9a-f]{64}$/, "Expected 64 hex characters");
/** Id of a receipt. */
export const SealedId = z.string().regex(
  /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/,
  "Expected letters, digits, ., _, : and -",
);
/** Id of a key, a task, an artifact or a workflow: without a separator of paths. */
export const Id = z.string().regex(
  /^[A-Za-z0-9][\w.:@+-]{0,254}$/,
  "Expected a letter or digit, and then letters, digits, _, ., :, @, + and -",
);
/** Id of a run at Temporal. */
export const RunUuid = z.uuid();
/** Name of a tool, a skill, a model, a step or a code: one word. */
export const Word = z.string().regex(
  /^[\w.:/@+=-]{0,200}$/,
  "Expected one word of letters, digits, _, ., :, /, @, +, = and -",
);
/** Name of a service, a person or a key: one line. */
export const Name = z.string().max(500).regex(
  /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u,
  "Expected one line, without control characters",
);
/** Id of a tenant. */
export const TenantId = Name.min(1);
/** Text of people, programs or models. */
export const Text = z.string().max(2_000_000);
/** A time. */
export const Time = z.iso.datetime({ offset: true });
/** A count, a position or a number of something. */
export const Count = z.number().int().min(0);
