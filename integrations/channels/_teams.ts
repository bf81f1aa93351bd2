import { z } from "zod";
import { Credential } from "./_credential_name.ts";
import { bodyOf, jsonRequest, type Notice, type NoticeRequest, titleOf } from "./_requests.ts";

/** A channel of Microsoft Teams. */
export const Teams = z.strictObject({
  credential: Credential.describe(
    "Name of the credential that is the URL of a workflow which posts what it receives",
  ),
});

/**
 * Returns the request to a workflow, with an adaptive card. Its runs of text are shown as they are, without Markdown.
 *
 * @see https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 */
export function teamsRequest(url: string, notice: Notice): NoticeRequest {
  const paragraph = (text: string, weight: "bolder" | "default") => ({
    type: "RichTextBlock",
    inlines: [{ type: "TextRun", text, weight }],
  });
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [
      paragraph(titleOf(notice), "bolder"),
      ...bodyOf(notice).split("\n").map((line) => paragraph(line, "default")),
    ],
    ...(notice.link === null
      ? {}
      : { actions: [{ type: "Action.OpenUrl", title: "Open", url: notice.link }] }),
  };
  const contentType = "application/vnd.microsoft.card.adaptive";
  return jsonRequest(url, { type: "message", attachments: [{ contentType, content }] });
}
