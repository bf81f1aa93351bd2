import type { MessageRefs } from "../../contract/domain/mod.ts";

/** Returns the page of the console where people act on what a message is about; null: there is none. */
export function pageOf(gateway: string, { approval_id, ticket_id }: MessageRefs): string | null {
  if (approval_id) return `${gateway}/console/approvals/${approval_id}`;
  return ticket_id ? `${gateway}/console/incidents/${ticket_id}` : null;
}
