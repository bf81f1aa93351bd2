import { Problem } from "../../contract/mod.ts";
import type { RunId } from "../../contract/domain/mod.ts";
import type { Db } from "../../store/mod.ts";
import { type EmailRecord, getEmail } from "../../store/mail/mod.ts";

/** An order about one mail. */
export interface EmailOrder {
  readonly email_id: string;
  readonly run: RunId;
}

/** Returns a mail. @throws {Problem} `NotFound` */
export async function requireEmail(db: Db, id: string): Promise<EmailRecord> {
  const email = await getEmail(db, id);
  if (email) return email;
  throw new Problem("NotFound", `There is no mail ${id}`);
}

/** Returns whether nothing is done with a mail any more. */
export function isOver({ state }: EmailRecord): boolean {
  return state === "sent" || state === "not_sent" || state === "unknown";
}
