import { Problem } from "../../contract/mod.ts";
import { hasCommandEnded } from "../../domain/mod.ts";
import type { Db } from "../../store/mod.ts";
import type { ApprovalRecord } from "../../store/approvals/mod.ts";
import { getEmail, REVIVABLE_CODES } from "../../store/crm/mod.ts";
import { getDeviceCommand } from "../../store/devices/mod.ts";
import { getArticle, getPipelineItem } from "../../store/publishing/mod.ts";

/**
 * Returns why a vote would be in vain: what the approval is about has ended meanwhile. Undefined: it has not, or is about
 * something that waits by itself.
 */
export async function subjectRefusal(
  db: Db,
  { id, subject }: Pick<ApprovalRecord, "id" | "subject">,
): Promise<Problem | undefined> {
  const end = await endOfSubject(db, subject);
  if (end === undefined) return undefined;
  return new Problem(
    "Conflict",
    `${subject}, which ${id} is about, has ended (${end}); ask for it anew`,
  );
}

async function endOfSubject(db: Db, subject: string): Promise<string | undefined> {
  const [, kind] = /^(CMD|ITEM|ART|EML)-[0-9a-f]{12}$/.exec(subject) ?? [];
  if (kind === "CMD") {
    const command = await getDeviceCommand(db, subject);
    return command && hasCommandEnded(command.status) ? command.status : undefined;
  }
  if (kind === "ITEM") {
    const item = await getPipelineItem(db, subject);
    return item?.stage === "review" ? undefined : item?.stage;
  }
  if (kind === "ART") {
    const article = await getArticle(db, subject);
    return article?.state === "review" ? undefined : article?.state;
  }
  const email = kind === "EML" ? await getEmail(db, subject) : undefined;
  const isOpen = email?.state === "held" || REVIVABLE_CODES.includes(email?.code ?? "");
  return isOpen ? undefined : email?.state;
}
