import { toLine } from "../../contract/mod.ts";
import type { Message } from "../../store/notices/mod.ts";

/** A message as channels tell it, with nothing in it that can't be seen. */
export type Notice =
  & Pick<
    Message,
    "id" | "at" | "kind" | "from" | "subject" | "text" | "refs" | "severity" | "service"
  >
  & {
    /** Page of the console where people act on it; opening it changes nothing. Null: there is none. */
    readonly link: string | null;
  };

/** The request by which a channel is told. */
export interface NoticeRequest {
  readonly url: string;
  readonly method: "POST" | "PUT";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns a request with a JSON body. */
export function jsonRequest(
  url: string,
  body: unknown,
  { method = "POST", headers = {} }: Partial<Pick<NoticeRequest, "method" | "headers">> = {},
): NoticeRequest {
  const own = { "content-type": "application/json", "user-agent": "sealoop-notices/1" };
  return { url, method, headers: { ...own, ...headers }, body: JSON.stringify(body) };
}

/** Returns the subject, or the beginning of the text where there is none. */
export function titleOf({ subject, text }: Notice): string {
  return subject || toLine(text.slice(0, 80));
}

/** Returns the text with the page where people act on it, and the id, by which they recognize what they are told twice. */
export function bodyOf({ subject, text, link, id }: Notice): string {
  return [...(subject ? [text] : [text.slice(80)]), link, id].filter(Boolean).join("\n");
}
