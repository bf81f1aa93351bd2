import { DRILL_SERVICE_PATTERN } from "../../../contract/domain/mod.ts";
import { describeNextStep } from "../../../store/incidents/mod.ts";
import { code, escape, join, tell, words } from "./_markdown.ts";
import { type PostmortemFacts, readDiagnoses } from "./_postmortem_facts.ts";

const DRILL_SERVICE = new RegExp(DRILL_SERVICE_PATTERN);

/** Formats what is left to do, as the record has it. */
export function formatNext(facts: PostmortemFacts): string {
  const { status, service } = facts.ticket;
  if (status === "resolved" && DRILL_SERVICE.test(service ?? "")) {
    return "It was a drill on a service of the platform's own. Nothing is left to do.";
  }
  const steps = [
    ...nextOfTicket(facts),
    ...nextOfRepairs(facts),
    ...nextOfDiagnosis(facts),
    ...facts.earlier.count > 0
      ? [
        `Find out what its ${
          facts.earlier.count + 1
        } incidents have in common: the same fault has come back.`,
      ]
      : [],
  ];
  return steps.length === 0
    ? "Nothing more follows from the record alone."
    : steps.map((step) => `- ${step}`).join("\n");
}

function nextOfTicket({ ticket, events }: PostmortemFacts): string[] {
  const { status, approval_id, escalated, taken_by, workflow_id } = ticket;
  if (status !== "open") return [];
  if (approval_id) return [`Decide about approval ${code(approval_id)}: the repair waits for it.`];
  if (taken_by !== null) {
    return [
      `**${
        escape(taken_by)
      }** has taken it: close the ticket with what was found, or hand it back to the platform.`,
    ];
  }
  if (escalated) {
    const { reason } = events.findLast(({ kind }) => kind === "escalated")?.data ?? {};
    return [tell(describeNextStep(String(reason ?? "")))];
  }
  return workflow_id === null ? [] : ["Let the platform go on: its run has not ended."];
}

function nextOfRepairs({ repairs }: PostmortemFacts): string[] {
  const unknown = repairs.filter(({ state }) => state === "unknown")
    .map(({ runbook, service }) =>
      `Look what runbook ${code(runbook ?? "none")} did on ${
        code(service)
      } before anything is repeated: nobody can tell.`
    );
  const vain = new Set(
    repairs.filter(({ state, verified }) => state === "done" && verified === false)
      .map(({ runbook }) => runbook),
  );
  const useless = [...vain].map((runbook) =>
    `Find out why runbook ${
      code(runbook ?? "none")
    } did not help, before it is used again for this fault.`
  );
  return [...unknown, ...useless];
}

function nextOfDiagnosis(facts: PostmortemFacts): string[] {
  const diagnoses = readDiagnoses(facts);
  const last = diagnoses.at(-1);
  if (!last) return [];
  const causes = [...new Set(diagnoses.flatMap(({ cause }) => cause ?? []))];
  const helped = facts.repairs.some(({ verified }) => verified);
  const cause = causes.length === 0
    ? [`Find the cause: the diagnoses name only the symptom ${code(last.symptom)}.`]
    : helped
    ? [
      `Look whether ${
        join(causes.map(code))
      } is mended for good: the passing check shows only that the symptom is over.`,
    ]
    : [];
  const blind = [
    ...new Set(
      last.observations.filter(({ code }) => code === "not_had")
        .map(({ source, figures }) => `${source} (${words(figures?.reason ?? "unknown")})`),
    ),
  ];
  return [
    ...cause,
    ...causes.length === 0 && blind.length > 0
      ? [`Let the platform look where it could not: ${join(blind)}.`]
      : [],
    ...(helped ? [] : missingValues(last.data.passed_over)).map((runbook) =>
      `Set the value that runbook ${code(runbook)} needs, if it should be used for such a fault.`
    ),
  ];
}

/** Returns the runbooks that were passed over as a value for them is missing. */
function missingValues(passedOver: unknown): string[] {
  if (!Array.isArray(passedOver)) return [];
  return (passedOver as { readonly runbook: string; readonly code: string }[])
    .filter(({ code }) => code.startsWith("parameter_")).map(({ runbook }) => runbook);
}
