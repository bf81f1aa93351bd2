import type { Store } from "../../store/mod.ts";
import { executionBounds } from "./_execution_bounds.ts";
import type { Finding, GuardVerdict, RailName, RailVerdict, ValidateRequest } from "./types.ts";

/** Judges proposed actions. */
export interface Guard {
  /**
   * Runs the four rails over a request.
   *
   * @throws when the store can't be read: whoever asks must then take it as a refusal
   */
  validate(request: ValidateRequest): Promise<GuardVerdict>;
}

/** Opens the guard. @param options.store of role `app`: policies, services, tickets */
export function openGuard(_options: { readonly store: Store }): Guard {
  return {
    validate: (request) => {
      const found: Readonly<Record<RailName, Finding>> = {
        input_safety: { objections: [], notes: [] },
        execution_bounds: executionBounds(request),
        output_fact_check: { objections: [], notes: [] },
        retrieval_integrity: { objections: [], notes: [] },
      };
      return Promise.resolve(verdictOf(found, "0"));
    },
  };
}

/** Puts the findings of the rails together: one that denies is enough, and so is one that asks. */
export function verdictOf(
  found: Readonly<Record<RailName, Finding>>,
  policyVersion: string,
): GuardVerdict {
  const all = Object.values(found).flatMap(({ objections }) => objections);
  const decision = all.some(({ weight }) => weight === "deny")
    ? "deny"
    : all.length > 0
    ? "needs_approval"
    : "allow";
  return {
    approved: decision === "allow",
    decision,
    rails: Object.entries(found).map(([rail, finding]) => told(rail as RailName, finding)),
    policy_version: policyVersion,
  };
}

function told(rail: RailName, { objections, notes }: Finding): RailVerdict {
  if (objections.length === 0) return { rail, passed: true, reasons: notes, remedy: null };
  const remedies = [...new Set(objections.map(({ remedy }) => remedy))];
  return {
    rail,
    passed: false,
    reasons: [...objections.map(({ reason }) => reason), ...notes],
    remedy: remedies.join(" "),
  };
}
