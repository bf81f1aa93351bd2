import { Problem } from "../../contract/mod.ts";
import type { Db } from "../../store/mod.ts";
import type { ApprovalRecord } from "../../store/approvals/mod.ts";
import type { ApprovalSubject, SubjectVote } from "../approval_subject.ts";
import type { Platform } from "../platform.ts";

/** Returns what an approval is about; undefined: a loop's repair, a call that is held, or what a program does itself. */
export function subjectOf(
  { subjects }: Pick<Platform, "subjects">,
  id: string,
): ApprovalSubject<Platform> | undefined {
  return subjects.find(({ ids }) => ids.test(id));
}

/** Returns why a vote does not count, by what the approval is about; undefined: it does. */
export async function subjectRefusal(
  parts: Pick<Platform, "subjects">,
  db: Db,
  { id, subject }: Pick<ApprovalRecord, "id" | "subject">,
  vote: Omit<SubjectVote, "approvalId">,
): Promise<Problem | undefined> {
  const about = subjectOf(parts, subject);
  const end = await about?.end?.(db, subject);
  if (end !== undefined) {
    const message = `${subject}, which ${id} is about, has ended (${end}); ask for it anew`;
    return new Problem("Conflict", message);
  }
  if (about?.refusal) return await about.refusal(db, subject, { approvalId: id, ...vote });
  if (vote.move !== "approved" || !vote.signature) return undefined;
  return new Problem("Forbidden", `${id} takes no signature: it is about no command`);
}
