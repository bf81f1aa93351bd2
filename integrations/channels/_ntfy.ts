import { z } from "zod";
import type { Severity } from "../../contract/domain/mod.ts";
import { Credential } from "./_credential_name.ts";
import { bodyOf, jsonRequest, type Notice, type NoticeRequest, titleOf } from "./_requests.ts";

/** A topic of ntfy. */
export const Ntfy = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).regex(
    /\/[A-Za-z0-9_-]{1,64}$/,
    "Expected an address that ends with the topic, as https://ntfy.sh/our-topic",
  ),
  credential: Credential.optional().describe(
    "Name of the credential that is the access token, where the topic needs one",
  ),
});

/** Priorities from 1 to 5. 5 rings also where the phone is muted. */
const PRIORITIES: Readonly<Record<Severity, number>> = { critical: 5, high: 4, medium: 3, low: 2 };
const DEFAULT_PRIORITY = 3;

/** Returns the request that publishes to a topic. @see https://docs.ntfy.sh/publish/#publish-as-json */
export function ntfyRequest(
  { url }: z.output<typeof Ntfy>,
  token: string | undefined,
  notice: Notice,
): NoticeRequest {
  const { origin, pathname } = new URL(url);
  const split = pathname.lastIndexOf("/");
  return jsonRequest(`${origin}${pathname.slice(0, split)}/`, {
    topic: pathname.slice(split + 1),
    title: titleOf(notice),
    message: bodyOf(notice),
    priority: notice.severity ? PRIORITIES[notice.severity] : DEFAULT_PRIORITY,
    tags: [notice.kind],
    ...(notice.link === null ? {} : { click: notice.link }),
  }, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
}
