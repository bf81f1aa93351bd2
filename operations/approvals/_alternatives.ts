import { z } from "zod";
import type { RequestingRun } from "../../contract/domain/mod.ts";
import { escapeInvisible } from "../../contract/mod.ts";
import { isUnfit, matchRunbooks, type Runbook } from "../../judgement/runbooks/mod.ts";
import type { ApprovalRecord } from "../../store/approvals/mod.ts";
import { getRunbookValues, listRunbookDocuments } from "../../store/catalogue/mod.ts";
import { getService } from "../../store/cmdb/mod.ts";
import { getFinding, listTicketEvents } from "../../store/incidents/mod.ts";
import type { Db } from "../../store/mod.ts";

/** A runbook that can be offered instead of a repair that people are asked about. */
export const Alternative = z.object({
  runbook: z.string(),
  version: z.string(),
  title: z.string(),
  about: z.string(),
  steps: z.array(z.string()).describe("What each step does"),
  undo: z.array(z.string()).describe("What undoes each step, or why nothing does"),
  parameters: z.array(z.object({
    name: z.string(),
    kind: z.string(),
    about: z.string(),
    value: z.unknown().describe(
      "As the service gives it, or the default; null: it is found at the repair",
    ),
  })),
});

/** Returns whether a loop asks about a repair. */
export function isRepair({ action, askingRun }: ApprovalRecord): boolean {
  return typeof action.runbook === "string" && askingRun !== null;
}

/** Lists the runbooks that match the incident that a repair is about, the most specific first. */
export async function runbooksFor(db: Db, approval: ApprovalRecord): Promise<Runbook[]> {
  const { finding } = approval.askingRun as unknown as RequestingRun;
  const name = String(approval.action.service);
  const [service, record, documents, given, events] = await Promise.all([
    getService(db, name),
    getFinding(db, finding.fingerprint),
    listRunbookDocuments(db),
    getRunbookValues(db, name),
    approval.ticketId ? listTicketEvents(db, approval.ticketId) : [],
  ]);
  const diagnosed = events.findLast(({ kind }) => kind === "diagnosed")?.data;
  const { classification, cause } = (diagnosed ?? {}) as {
    classification?: { category?: string } | null;
    cause?: string | null;
  };
  const incident = {
    service: service ?? { name, type: "host", restart: null, check: null },
    finding: { check: finding.check, code: finding.code },
    category: classification?.category ?? null,
    cause: cause ?? null,
    text: `${finding.report ?? ""}\n${record?.summary ?? ""}\n${
      JSON.stringify(record?.detail ?? {})
    }`,
    gives: Object.keys(given),
  };
  const all = documents.map(({ document, origin, sha256 }) =>
    ({ ...document as object, origin, sha256 }) as Runbook
  );
  const fit = matchRunbooks(all, incident).filter((one) => !isUnfit(one, incident));
  const own = all.filter((one) => one.runbook === approval.action.runbook && !fit.includes(one));
  return [...fit, ...own];
}

/** Describes runbooks that can be offered for a service. */
export async function describeAlternatives(
  db: Db,
  approval: ApprovalRecord,
): Promise<z.output<typeof Alternative>[]> {
  const [runbooks, given] = await Promise.all([
    runbooksFor(db, approval),
    getRunbookValues(db, String(approval.action.service)),
  ]);
  return runbooks.map((one) =>
    escapeInvisible({
      runbook: one.runbook,
      version: one.version,
      title: one.title,
      about: one.about,
      steps: one.steps.map(({ does }) => does),
      undo: one.steps.map(({ undo }) => undoText(undo)),
      parameters: Object.entries(one.parameters).map(([name, parameter]) => ({
        name,
        kind: parameter.kind,
        about: parameter.about,
        value: given[name] ?? parameter.default ?? null,
      })),
    })
  );
}

/** Says what undoes a step, by its runbook or as it is made ready. */
export function undoText(undo: unknown): string {
  const { none, put_back, command, http, restart, script } = undo as Record<string, unknown>;
  if (typeof none === "string") return none;
  if (put_back) return "What was moved aside is moved back.";
  if (command) return `Runs ${(command as { argv: readonly string[] }).argv.join(" ")}`;
  if (http) return `Requests ${(http as { url?: string }).url ?? "an address"}`;
  if (restart) return `Restarts ${typeof restart === "string" ? `the ${restart}` : "it"} again.`;
  return script ? "Runs the script that the catalogue names as its opposite." : "Nothing is said.";
}
