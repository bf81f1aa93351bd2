import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { InvalidInput, Problem } from "../../contract/mod.ts";
import { openHttpClient, OutboundRefused } from "../../integrations/http/mod.ts";
import {
  createWebhookSecret,
  openSecretBox,
  WEBHOOK_SECRET_PATTERN,
} from "../../integrations/webhooks/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { FULL } from "../scopes.ts";
import { WebhookEvent, WebhookId } from "./_schemas.ts";
import {
  countWebhooks,
  listWebhooks,
  putWebhook,
  removeWebhook,
  TICKET_EVENTS,
  WEBHOOK_EVENTS,
} from "../../store/webhooks/mod.ts";

/** For each tenant. */
const MAX_WEBHOOKS = 50;
/** A URL without user name and password, or the id of a webhook. Plain http is for allowed networks. */
const URL_OR_WEBHOOK_ID = String.raw`^(https?://[^\s@/?#]+([/?#]\S*)?|WH-[0-9a-f]{12})$`;

/** An event by its name, or by a short form of it. */
const EventName = z.enum([...WEBHOOK_EVENTS, "OPENED", "UPDATED", "RESOLVED"]);

/** Registers a webhook, or removes it where no events are given. */
export const registerWebhook = operation({
  name: "webhooks.register",
  group: "itsm",
  summary: "Register a URL that is called about tickets, and about approvals where it names them",
  description:
    "Messages follow Standard Webhooks: a POST of {type, timestamp, data} with the headers webhook-id, webhook-timestamp and " +
    "webhook-signature (HMAC-SHA256 by its `whsec_` key). Messages arrive at least once and in no guaranteed order; a " +
    "repeated message has the same webhook-id. A message that is not answered with 2xx within 15 s is sent again for a day, " +
    "with growing pauses. The URL must be https and public, unless the platform's settings allow its network. Registering a " +
    "URL again replaces its events and its `whsec_` key; without events the webhook is removed. The list of deliveries " +
    "also lists the webhooks.",
  effect: "write",
  access: "partner",
  input: z.object({
    url: z.string().min(1).max(2000).describe(
      "Destination of the messages, an https URL without user name and password; redirects are not followed. To remove a " +
        "webhook, send its URL or its id",
    ).meta({ pattern: URL_OR_WEBHOOK_ID }),
    events: z.array(EventName).max(8).default([...TICKET_EVENTS]).describe(
      "Events to send; default: those of tickets; an empty list removes the webhook",
    ),
    secret: z.string().regex(WEBHOOK_SECRET_PATTERN, "Expected whsec_ and 24 to 64 bytes in base64")
      .optional().describe("Key that signs the messages; default: the platform makes one"),
  }),
  output: z.object({
    webhook_id: WebhookId,
    url: z.string(),
    events: z.array(WebhookEvent),
    secret: z.string().nullable().describe(
      "The key that the platform made, which only this answer has; null: you sent one, or the webhook was removed",
    ),
  }),
  rest: { itsm_webhook_register: "POST /v1/itsm/webhooks" },
  tool: { itsm_register_webhook: FULL },
  presentation: {
    toolText: {
      itsm_register_webhook:
        "The URL must be https and public. Messages follow Standard Webhooks, at least once and in no guaranteed order; registering a URL again replaces its events and key, and without events removes it.",
    },
    hints: { destructive: true, openWorld: true },
    shownOnce: ["secret"],
    errors: ["Conflict", "NotFound"],
  },
  governance: {
    // Without events the webhook is removed: it is told nothing more.
    rule: ({ events }) => events.length > 0 ? "tells-the-outside" : "tickets-and-loops",
    async check({ url, events }, { store, caller, config }) {
      const webhooks = await listWebhooks(store.db);
      if (events.length === 0) {
        const named = normalizeUrl(url);
        if (!webhooks.some((known) => known.url === named || known.id === named)) {
          throw noSuchWebhook(caller.tenant);
        }
        return;
      }
      const href = checkUrl(url, config.settings.SEALOOP_OUTBOUND_ALLOW);
      if (webhooks.length >= MAX_WEBHOOKS && !webhooks.some((known) => known.url === href)) {
        throw tooManyWebhooks();
      }
    },
  },
  durability: {
    sealsItself: true,
    commits: true,
  },
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
  run: async ({ url, events, secret }, context) => {
    if (events.length === 0) return await remove(url, context);
    const { config } = context;
    const href = checkUrl(url, config.settings.SEALOOP_OUTBOUND_ALLOW);
    const all = WEBHOOK_EVENTS.filter((event) => events.some((name) => isNameOf(name, event)));
    return await register(href, all, secret, context);
  },
});

/** Stores and seals a webhook. @param given its secret; undefined: the platform makes one, and tells it */
async function register(
  url: string,
  events: z.output<typeof WebhookEvent>[],
  given: string | undefined,
  { caller, config, commit }: Context,
) {
  const secret = given ?? createWebhookSecret();
  const box = openSecretBox(config);
  return await commit(async (trx) => {
    const id = await putWebhook(trx, {
      url,
      events,
      secret: box.seal(secret, url),
      createdBy: caller.keyId!,
    });
    if (await countWebhooks(trx) > MAX_WEBHOOKS) throw tooManyWebhooks();
    await requestSeal(trx, {
      category: "webhook_registered",
      actor: `key:${caller.keyId}`,
      subject: id,
      action: "webhooks.register",
      outcome: "success",
      details: { events },
      evidence: { url },
    });
    return { webhook_id: id, url, events, secret: given === undefined ? secret : null };
  });
}

/** Removes a webhook. @param urlOrId its URL, which need not be one that could be registered now, or its id */
async function remove(urlOrId: string, { caller, commit }: Context) {
  const url = normalizeUrl(urlOrId);
  return await commit(async (trx) => {
    const id = await removeWebhook(trx, url);
    if (id === undefined) throw noSuchWebhook(caller.tenant);
    await requestSeal(trx, {
      category: "webhook_removed",
      actor: `key:${caller.keyId}`,
      subject: id,
      action: "webhooks.register",
      outcome: "success",
      details: { events: [] },
    });
    return { webhook_id: id, url, events: [], secret: null };
  });
}

function normalizeUrl(urlOrId: string): string {
  return URL.canParse(urlOrId) ? new URL(urlOrId).href : urlOrId;
}

function noSuchWebhook(tenant: string): Problem {
  return new Problem("NotFound", `${tenant} has no webhook with this URL or id`);
}

function tooManyWebhooks(): Problem {
  const message =
    `Cannot register another webhook: a tenant has at most ${MAX_WEBHOOKS}; remove one first`;
  return new Problem("Conflict", message);
}

function isNameOf(name: string, event: string): boolean {
  return name === event || `ticket.${name.toLowerCase()}` === event;
}

/**
 * Checks a URL as far as that needs no name server; a host name is resolved and checked at each delivery.
 *
 * @returns the URL in its normal form
 * @throws {InvalidInput}
 */
function checkUrl(url: string, allow: readonly string[]): string {
  try {
    return openHttpClient({ allow }).check(url).href;
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error;
    throw new InvalidInput([{ path: ["url"], msg: error.message, type: "url_refused" }]);
  }
}
