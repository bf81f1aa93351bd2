import { type Action, OBSERVED, RESTART_ASKED } from "../../contract/domain/mod.ts";
import type { ValidateRequest } from "../../judgement/guard/mod.ts";
import type { RepairRequest } from "./_order.ts";

/** Confidence of an action against a fault that a detector measured, and whose cause is not known. */
const MEASURED_CONFIDENCE = 0.9;
/** Confidence of an action against a report that nothing could classify. */
const UNCLASSIFIED_CONFIDENCE = 0.5;

/**
 * Returns what the guardrails are asked about a repair.
 *
 * @param summary of the detector's finding
 */
export function validateRequestOf(
  { ticket_id, action, finding, code, diagnosis }: RepairRequest,
  summary: string | undefined,
): ValidateRequest {
  const { service, runbook, version, steps } = action;
  const { classification, citations } = diagnosis;
  const isAsked = finding.code === RESTART_ASKED;
  return {
    incident: finding.report ?? summary ??
      `${finding.service ?? "A host"} fails its ${finding.check} check: ${code}`,
    action: {
      description: steps.map(({ does }) => does).join(" "),
      command: shellCommandOf(action),
      target: service,
      confidence: confidenceOf(finding, classification),
      blast_radius: 1, // the target itself: the guardrails know its dependents
      touches_secrets: false,
      runbook,
      version,
    },
    context: {
      ticket_id,
      changes: changesOf(action),
      listed: true, // the executor refuses a command that is not
      citations: [...citations],
      observed: { service, healthy: isAsked, code },
    },
  };
}

/** Returns how sure an action is: as sure as the cause that was observed, where one was. */
function confidenceOf(
  { check, code }: RepairRequest["finding"],
  classification: RepairRequest["diagnosis"]["classification"],
): number {
  if (code === RESTART_ASKED) return MEASURED_CONFIDENCE; // a wish is no judgement that could be wrong
  if (check === "report") return classification?.confidence ?? UNCLASSIFIED_CONFIDENCE;
  return classification?.provider === OBSERVED ? classification.confidence : MEASURED_CONFIDENCE;
}

/** Steps that look, or only tell people and tickets. */
const LOOKING_KINDS = new Set(["wait", "notify", "join"]);
const LOOKING_METHODS = new Set(["GET", "HEAD"]);

/** Tells what of an action may change something: the guardrails read commands themselves. */
function changesOf({ steps }: Action): "nothing" | "command" | "more" {
  const others = steps.filter(({ kind, http }) =>
    !LOOKING_KINDS.has(kind) &&
    !LOOKING_METHODS.has((http as { readonly method?: string } | undefined)?.method ?? "")
  );
  if (others.length === 0) return "nothing";
  return others.every(({ kind }) => kind === "command" || kind === "script") ? "command" : "more";
}

/** Returns the commands of an action as they would be typed in a shell; undefined if it has none. */
function shellCommandOf({ steps }: Action): string | undefined {
  const lines = steps.flatMap(({ command, look, script }) => {
    const { argv } = (command ?? look ?? script ?? {}) as { readonly argv?: readonly string[] };
    return argv ? [argv.map(quote).join(" ")] : [];
  });
  return lines.length > 0 ? lines.join("\n") : undefined;
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
