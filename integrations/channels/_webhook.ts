import { z } from "zod";
import { signWebhook } from "../webhooks/mod.ts";
import { Credential } from "./_credential_name.ts";
import { jsonRequest, type Notice, type NoticeRequest } from "./_requests.ts";

/** A receiver of messages as JSON. */
export const Webhook = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  credential: Credential.optional().describe(
    "Name of the credential that is its secret, whsec_…, with which messages are signed",
  ),
});

/** Returns the request to a receiver, in the form of Standard Webhooks. A repetition has the same `webhook-id`. */
export function webhookRequest(
  { url }: z.output<typeof Webhook>,
  secret: string | undefined,
  { id, at, kind, ...notice }: Notice,
): NoticeRequest {
  const request = jsonRequest(url, {
    type: kind,
    timestamp: at,
    data: { id, at, kind, ...notice },
  });
  const headers: Readonly<Record<string, string>> = secret === undefined
    ? { "webhook-id": id }
    : signWebhook(id, new Date(), request.body, secret);
  return { ...request, headers: { ...request.headers, ...headers } };
}
