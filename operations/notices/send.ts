import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { checkMail } from "../mail/sending/mod.ts";
import { InvalidInput, Problem } from "../../contract/mod.ts";
import type { Channel as ChannelKind } from "../../contract/domain/mod.ts";
import {
  BadCommsFile,
  commsFilePath,
  type CommsSection,
  kindOf,
  readCommsFile,
} from "../../integrations/channels/mod.ts";
import type { Db } from "../../store/mod.ts";
import { getCallEffects, noteCallEffects } from "../../store/calls/mod.ts";
import { addDelivery, addMessage, listDeliveriesOf } from "../../store/notices/mod.ts";
import { text, Timestamp, trimmedText } from "../schemas/mod.ts";
import { isMailAddress, recoverByMail, sendByMail } from "./_mail.ts";
import { Channel } from "./_message.ts";

/** Time that a call waits for the end of its delivery. Attempts go on after it. */
const WAIT_MS = 5_000;
const POLL_MS = 100;

const Delivery = z.object({
  channel: z.string().describe("Name of the channel in sealoop.comms.yaml"),
  kind: Channel,
  state: z.enum(["held", "queued", "delivered", "not_delivered", "unknown", "skipped"]).describe(
    "held: a person looks at the mail first; queued: attempts go on; unknown: it may have arrived; " +
      "skipped: it was not needed",
  ),
  attempts: z.number().int(),
  code: z.string().nullable().describe("status_200, timeout, unreachable, no_credential, …"),
  at: Timestamp.nullable().describe("End of the last attempt; null for a mail to an address"),
  email_id: z.string().optional().describe("The mail, where it goes to an address"),
  approval_id: z.string().optional().describe("What a person decides about, where it is held"),
});

/** Writes a person's words into the feed, and tells them over a channel. */
export const sendMessage = operation({
  name: "comms.send",
  group: "people",
  summary: "Write a message into your organization's feed, and send it over a channel",
  description:
    "`feed` is the feed alone. Other channels are those that the operator names in `sealoop.comms.yaml`: `to` is the " +
    "name of one, and is needed where there are several of a kind. A delivery has at most three attempts; the answer " +
    "comes when it has ended, or after five seconds. For `email`, `to` may be an address instead: then it is " +
    "`crm_send_email`, with the same review and consent, and needs a subject.",
  effect: "run",
  access: "partner",
  input: z.object({
    channel: Channel,
    to: z.string().min(1).max(320).optional().describe(
      "Name of the channel in sealoop.comms.yaml, or an e-mail address",
    ),
    subject: text(0, 200).default(""),
    text: trimmedText(1, 4000),
  }),
  output: z.object({
    message_id: z.string(),
    deliveries: z.array(Delivery).describe("Empty: it stands in the feed alone"),
  }),
  rest: { comms_send: "POST /v1/comms/send" },
  presentation: { hints: { destructive: false, openWorld: true }, errors: ["NotConfigured"] },
  governance: {
    rule: ({ channel, to }) =>
      channel === "feed"
        ? "tickets-and-loops"
        : isMailAddress(channel, to)
        ? "reviewed-mail"
        : "acts-on-the-outside",
    actsAs: ({ channel, to }) => isMailAddress(channel, to) ? ["mail.send", "crm_send_email"] : [],
    async check({ channel, to }, context) {
      if (isMailAddress(channel, to)) await checkMail(context, { to, kind: "mail" });
      else findChannel(context, channel, to);
    },
  },
  durability: {
    recover: async (call, platform) => {
      const { db } = platform.store;
      const ids = (await getCallEffects(db, call.decisionId))?.ids;
      if (ids?.message_id === undefined) return await recoverByMail(call, platform);
      return { state: "done", ids, output: await outputOf(db, ids.message_id) };
    },
  },
  example: {
    input: { channel: "slack", to: "ops-chat", text: "I look at billing" },
    output: {
      message_id: "MSG-5b1e09c77a42",
      deliveries: [{
        channel: "ops-chat",
        kind: "slack",
        state: "delivered",
        attempts: 1,
        code: "status_200",
        at: "2026-07-01T12:00:00.000Z",
      }],
    },
  },
  run: async ({ channel: kind, to, subject, text }, context) => {
    if (isMailAddress(kind, to)) return await sendByMail({ to, subject, text }, context);
    const { store, caller, decisionId, signal } = context;
    const channel = findChannel(context, kind, to);
    const messageId = await store.db.transaction(async (trx) => {
      const from = caller.principal;
      const id = (await addMessage(trx, { kind: "said", channel: kind, from, subject, text }))!;
      if (channel !== undefined) await addDelivery(trx, id, { channel, kind });
      await noteCallEffects(trx, decisionId, { message_id: id });
      return id;
    });
    const deadline = Date.now() + WAIT_MS;
    for (;;) {
      const output = await outputOf(store.db, messageId);
      const isEnded = output.deliveries.every(({ state }) => state !== "queued");
      if (isEnded || Date.now() > deadline || signal.aborted) return output;
      await sleep(POLL_MS);
    }
  },
});

/**
 * Returns the name of the channel that is meant; undefined: the feed alone.
 *
 * @throws {Problem} `NotConfigured`: the file names none of the kind
 * @throws {InvalidInput} there is no such channel, or several may be meant
 */
function findChannel(
  context: Pick<Context, "config" | "store">,
  kind: ChannelKind,
  to: string | undefined,
): string | undefined {
  if (kind === "feed") {
    if (to === undefined) return undefined;
    throw wrongChannel("Leave `to` out: the feed is for everybody of your organization");
  }
  const { channels } = sectionOf(context);
  const names = Object.keys(channels).filter((name) => kindOf(channels[name]!) === kind);
  if (names.length === 0) {
    throw new Problem(
      "NotConfigured",
      `Cannot send over ${kind}: sealoop.comms.yaml names no such channel of your organization`,
    );
  }
  if (to !== undefined && names.includes(to)) return to;
  if (to === undefined && names.length === 1) return names[0];
  throw wrongChannel(`Expected the name of a channel of kind ${kind}: ${names.join(", ")}`);
}

function wrongChannel(msg: string): InvalidInput {
  return new InvalidInput([{ path: ["to"], msg, type: "value_error" }]);
}

/** @throws {Problem} `NotConfigured`: the file is wrong. What is wrong is for the operator, in the log of the worker */
function sectionOf({ config, store }: Pick<Context, "config" | "store">): CommsSection {
  try {
    const comms = readCommsFile(commsFilePath(config));
    return comms.get(store.tenant) ?? { channels: {}, rules: [] };
  } catch (error) {
    if (!(error instanceof BadCommsFile)) throw error;
    throw new Problem("NotConfigured", "Cannot send: sealoop.comms.yaml has mistakes", {
      cause: error,
    });
  }
}

async function outputOf(db: Db, message_id: string) {
  const deliveries = await listDeliveriesOf(db, message_id);
  return {
    message_id,
    deliveries: deliveries.map(({ channel, kind, state, attempts, code, endedAt }) => ({
      channel,
      kind,
      state,
      attempts,
      code,
      at: endedAt,
    })),
  };
}
