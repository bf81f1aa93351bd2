import { join } from "node:path";
import { openHttpClient, OutboundRefused } from "../../integrations/http/mod.ts";
import {
  createWebhookSecret,
  openSecretBox,
  WEBHOOK_KEY_FILE,
  WEBHOOK_SECRET_PATTERN,
} from "../../integrations/webhooks/mod.ts";
import {
  countWebhooks,
  type Delivery,
  getWebhookSecret,
  listDeliveries,
  listWebhooks,
  noteCallEffects,
  putWebhook,
  removeWebhook,
  WEBHOOK_EVENTS,
  type WebhookEvent,
} from "../../store/mod.ts";
import { z } from "zod";
import { InvalidInput, Problem } from "../../contract/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { FULL } from "../_audience.ts";
import { Limit, Timestamp } from "../_shapes.ts";
import { recoverNoted } from "../../calls/recover/mod.ts";
import { type Context, operation, type Platform } from "../../calls/mod.ts";

const group = "itsm";
const MOST_WEBHOOKS = 50;

const WebhookId = z.string().regex(/^WH-[0-9a-f]{12}$/, "Expected WH- and 12 hex characters");
/** Plain http is refused but for allowed networks. */
const URL_OR_WEBHOOK_ID = String.raw`^(https?://[^\s@/?#]+([/?#]\S*)?|WH-[0-9a-f]{12})$`;
const Event = z.enum(WEBHOOK_EVENTS);
/** Also by the plain words for them. */
const AskedEvent = z.enum([...WEBHOOK_EVENTS, "OPENED", "UPDATED", "RESOLVED"]);

/** Registers somebody who is told of tickets. */
export const registerWebhook = operation({
  name: "webhooks.register",
  group,
  summary: "Register a URL that is told when tickets are opened, updated and resolved",
  description:
    "Messages follow Standard Webhooks: a POST of {type, timestamp, data} with the headers webhook-id, " +
    "webhook-timestamp and webhook-signature (HMAC-SHA256 by its `whsec_` key). They come at least once and in no certain order; " +
    "a message has the same webhook-id each time. Whatever is not answered 2xx within 15 s is sent again with growing " +
    "pauses for a day. The URL is https and public, unless the platform's settings allow its network. Registering a URL " +
    "again replaces its events and its `whsec_` key; with no events it is told nothing more. What is registered is listed " +
    "with the deliveries.",
  effect: "write",
  hints: { destructive: true, openWorld: true },
  access: "partner",
  sealsItself: true,
  input: z.object({
    url: z.string().min(1).max(2000).describe(
      "Where messages are posted to, an https URL without user name and password; redirects are not followed. To " +
        "remove a webhook, its id will do",
    ).meta({ pattern: URL_OR_WEBHOOK_ID }),
    events: z.array(AskedEvent).max(6).default([...WEBHOOK_EVENTS]).describe(
      "What it is told of; none: it is removed",
    ),
    secret: z.string().regex(WEBHOOK_SECRET_PATTERN, "Expected whsec_ and 24 to 64 bytes in base64")
      .optional()
      .describe("Signs the messages; one is made where it is left out"),
  }),
  output: z.object({
    webhook_id: WebhookId,
    url: z.string(),
    events: z.array(Event),
    secret: z.string().nullable().describe("In this answer and nowhere else; null: it is yours"),
  }),
  rest: { itsm_webhook_register: "POST /v1/itsm/webhooks" },
  tool: { itsm_register_webhook: FULL },
  errors: ["Conflict", "NotFound"],
  example: {
    input: {
      url: "https://hooks.example.com/tickets",
      events: ["ticket.opened", "ticket.resolved"],
    },
    output: {
      webhook_id: "WH-5b1e09c77a42",
      url: "https://hooks.example.com/tickets",
      events: ["ticket.opened", "ticket.resolved"],
      secret: "whsec_…",
    },
  },
  recover: (call, platform) =>
    recoverNoted(
      platform,
      call,
      ({ ids, output }) => lostOutput(platform, ids.webhook_id!, output as Registered),
    ),
  run: async ({ url: text, events: asked, secret }, context) => {
    const { store, caller, config, decisionId } = context;
    if (asked.length === 0) return await remove(text, context);
    const url = acceptable(text, config.settings.SEALOOP_OUTBOUND_ALLOW);
    const events = WEBHOOK_EVENTS.filter((event) => asked.some((word) => isAbout(word, event)));
    const used = secret ?? createWebhookSecret();
    const box = openSecretBox(join(config.dataDir, WEBHOOK_KEY_FILE));
    const id = await store.asPlatform().transaction(async (trx) => {
      const webhook = await putWebhook(trx, {
        url,
        events,
        secret: box.seal(used, url),
        tenant: caller.tenant,
        createdBy: caller.keyId!,
      });
      if (await countWebhooks(trx, caller.tenant) > MOST_WEBHOOKS) {
        throw new Problem("Conflict", `A tenant has at most ${MOST_WEBHOOKS} webhooks`);
      }
      await requestSeal(trx, {
        category: "webhook_registered",
        actor: `key:${caller.keyId}`,
        subject: webhook,
        action: "webhooks.register",
        outcome: "success",
        details: { events },
        evidence: { url },
      });
      const registered: Registered = { url, events, made: secret === undefined };
      await noteCallEffects(trx, decisionId, { webhook_id: webhook }, registered);
      return webhook;
    });
    return { webhook_id: id, url, events, secret: secret === undefined ? used : null };
  },
});

/** What is noted of a webhook as it is registered, or removed. */
type Registered = {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Whether its secret was made here, and so has to be told. */
  readonly made: boolean;
};

/** What the call would have given; a secret that was made for it is read from where it is kept. */
async function lostOutput(
  { store, config }: Platform,
  webhook_id: string,
  { url, events, made }: Registered,
) {
  const sealed = made ? await getWebhookSecret(store.asPlatform(), webhook_id) : undefined;
  const secret = sealed && openSecretBox(join(config.dataDir, WEBHOOK_KEY_FILE)).open(sealed, url);
  return { webhook_id, url, events, secret: secret ?? null };
}

/** Tells a webhook nothing more. @param text its URL, which need not be one that could be registered now, or its id */
async function remove(text: string, { store, caller, decisionId }: Context) {
  const url = URL.canParse(text) ? new URL(text).href : text;
  const id = await store.asPlatform().transaction(async (trx) => {
    const webhook = await removeWebhook(trx, { named: url, tenant: caller.tenant });
    if (webhook === undefined) {
      throw new Problem("NotFound", `There is no webhook with this URL or id of ${caller.tenant}`);
    }
    await requestSeal(trx, {
      category: "webhook_removed",
      actor: `key:${caller.keyId}`,
      subject: webhook,
      action: "webhooks.register",
      outcome: "success",
      details: { events: [] },
    });
    const removed: Registered = { url, events: [], made: false };
    await noteCallEffects(trx, decisionId, { webhook_id: webhook }, removed);
    return webhook;
  });
  return { webhook_id: id, url, events: [], secret: null };
}

function isAbout(word: string, event: WebhookEvent): boolean {
  return word === event || `ticket.${word.toLowerCase()}` === event;
}

/** What can be told without asking anybody is told here; a name is looked up at each delivery. */
function acceptable(url: string, allow: readonly string[]): string {
  try {
    return openHttpClient({ allow }).check(url).href;
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error;
    throw new InvalidInput([{ path: ["url"], msg: error.message, type: "url_refused" }]);
  }
}

/** Lists what was and is to be delivered. */
export const webhookDeliveries = operation({
  name: "webhooks.deliveries",
  group,
  summary: "List the webhooks of the caller's organisation, and deliveries to them, newest first",
  description:
    "`dead` are those that were given up: after a day of attempts, or at once where the address may not be " +
    "reached or the receiver said 410 Gone (it is told nothing more then).",
  effect: "read",
  access: "key",
  input: z.object({
    state: z.enum(["queued", "delivered", "dead"]).optional().describe("Only those that stand so"),
    webhook_id: WebhookId.optional().describe("Only those to this webhook"),
    limit: Limit,
  }),
  output: z.object({
    deliveries: z.array(z.object({
      delivery_id: z.string().describe("The header webhook-id"),
      webhook_id: WebhookId,
      origin: z.string().describe("Scheme and host of the URL; its path may be a secret"),
      ticket_id: z.string(),
      type: Event,
      state: z.enum(["queued", "delivered", "dead"]),
      attempts: z.number().int(),
      last_status: z.number().int().nullable(),
      last_error: z.string().nullable().describe(
        "status_500, timeout, unreachable, refused_address, …",
      ),
      created_at: Timestamp,
      next_attempt_at: Timestamp.nullable(),
      ended_at: Timestamp.nullable(),
      workflow_id: z.string(),
    })),
    webhooks: z.array(z.object({
      webhook_id: WebhookId,
      origin: z.string(),
      events: z.array(Event),
      created_at: Timestamp,
    })).describe("All that are registered, by their holder's organisation"),
  }),
  rest: { itsm_webhook_deliveries: "GET /v1/itsm/webhooks/deliveries" },
  example: {
    input: { state: "dead" },
    output: {
      deliveries: [{
        delivery_id: "msg_0a3c1f7be2d94c55a1b7d0e6f4c2a981",
        webhook_id: "WH-5b1e09c77a42",
        origin: "https://hooks.example.com",
        ticket_id: "INC-4f1d22a90b7c",
        type: "ticket.opened",
        state: "dead",
        attempts: 10,
        last_status: 503,
        last_error: "status_503",
        created_at: "2026-07-01T12:00:00.000Z",
        next_attempt_at: null,
        ended_at: "2026-07-02T11:36:05.000Z",
        workflow_id: "webhook-msg_0a3c1f7be2d94c55a1b7d0e6f4c2a981",
      }],
      webhooks: [{
        webhook_id: "WH-5b1e09c77a42",
        origin: "https://hooks.example.com",
        events: ["ticket.opened"],
        created_at: "2026-06-01T09:00:00.000Z",
      }],
    },
  },
  run: async ({ state, webhook_id, limit }, { store, caller: { tenant } }) => {
    const [deliveries, webhooks] = await Promise.all([
      listDeliveries(store.asPlatform(), { tenant, state, webhookId: webhook_id, limit }),
      listWebhooks(store.asPlatform(), tenant),
    ]);
    return {
      deliveries: deliveries.map(shown),
      webhooks: webhooks.map(({ id, url, events, createdAt }) => ({
        ...{ webhook_id: id, origin: new URL(url).origin, events: [...events] },
        created_at: createdAt,
      })),
    };
  },
});

function shown(delivery: Delivery) {
  return {
    delivery_id: delivery.id,
    webhook_id: delivery.webhookId,
    origin: new URL(delivery.url).origin,
    ticket_id: delivery.ticketId,
    type: delivery.type,
    state: delivery.state,
    attempts: delivery.attempts,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
    created_at: delivery.createdAt,
    next_attempt_at: delivery.nextAttemptAt,
    ended_at: delivery.endedAt,
    workflow_id: `webhook-${delivery.id}`,
  };
}
