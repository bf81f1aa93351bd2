import { z } from "zod";
import { Credential } from "./_credential_name.ts";
import { bodyOf, jsonRequest, type Notice, type NoticeRequest, titleOf } from "./_requests.ts";

/** Maximum characters of a text that Slack shows. */
const MAX_TEXT = 3_000;

/** A channel of Slack. */
export const Slack = z.strictObject({
  credential: Credential.describe("Name of the credential that is the URL of its incoming webhook"),
});

/**
 * Returns the request to an incoming webhook. Mentions and links in the text do nothing; the page has a link of its own.
 *
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export function slackRequest(url: string, notice: Notice): NoticeRequest {
  const text = `${titleOf(notice)}\n${bodyOf(notice)}`.slice(0, MAX_TEXT);
  return jsonRequest(url, {
    text: escape(text),
    mrkdwn: false,
    unfurl_links: false,
    blocks: [
      { type: "section", text: { type: "plain_text", text, emoji: false } },
      ...(notice.link === null
        ? []
        : [{ type: "section", text: { type: "mrkdwn", text: `<${escape(notice.link)}>` } }]),
    ],
  });
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
