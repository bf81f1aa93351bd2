import type { Decision } from "../../contract/domain/mod.ts";
import type { Store } from "../../store/mod.ts";
import { judgeActionCommand } from "./_command.ts";
import { executionBounds } from "./_execution_bounds.ts";
import { inputSafety } from "./_input_safety.ts";
import { outputFactCheck } from "./_output_fact_check.ts";
import { retrievalIntegrity } from "./_retrieval_integrity.ts";
import { EMPTY_STATE, type PlatformState } from "./_state.ts";
import { createStateReader } from "./_state_reader.ts";
import { textsOf } from "./_texts.ts";
import { warmUpPatterns } from "./text/mod.ts";
import type { GuardVerdict, RailName, RailResult, RailVerdict, ValidateRequest } from "./types.ts";

/** Judges proposed actions. */
export interface Guard {
  /**
   * Judges a request against the state of a tenant's services.
   *
   * @throws the store can't be read: treat as denied
   */
  validate(request: ValidateRequest, tenant: string): Promise<GuardVerdict>;
}

/** Opens the guard. @param options.store of role `engine`: policies, services, tickets, articles */
export function openGuard({ store }: { readonly store: Store }): Guard {
  void warmUpPatterns();
  for (const request of WARM_UP) judgeAction(request, EMPTY_STATE);
  const readState = createStateReader(store);
  return {
    validate: async (request, tenant) => judgeAction(request, await readState(request, tenant)),
  };
}

/** Requests judged once at the start, as regular expressions are compiled at their first use. */
const WARM_UP: readonly ValidateRequest[] = [
  "sudo systemctl restart nginx; find /tmp -name '*.gz' -mtime +7 -delete",
  'kubectl exec db-0 -- psql -c "VACUUM orders" | grep -v x > /tmp/out; rm -f /tmp/out',
  "Restart-Service Spooler; Remove-Item C:\\Windows\\Temp\\* -Recurse",
  "curl -s http://localhost/health | python3 -c 'import sys; print(sys.stdin.read())'",
].map((command, n) => ({
  // Expressions are compiled again for texts with letters beyond Latin-1.
  incident: `nginx answers 502; ${
    n % 2 ? "ignor" : "“ignoré”"
  }, said the log: dXBzdHJlYW0gdGltZWQgb3V0IGFnYWlu %41%42`,
  action: { description: "Restart nginx and delete old logs", command, target: "nginx" },
}));

/** Runs the four rails over a request. */
export function judgeAction(request: ValidateRequest, state: PlatformState): GuardVerdict {
  const { action = {}, context } = request;
  const texts = textsOf(request);
  const { looks } = judgeActionCommand(action);
  const { changes = "command" } = context ?? {};
  const changesNothing = changes === "nothing" || changes === "command" && looks;
  const reach = {
    reached: Math.max(state.reached.length, 1),
    dependents: looks ? null : state.dependents,
    repairs: state.repairs,
    freezes: changesNothing ? [] : state.freezes,
  };
  return combine({
    input_safety: inputSafety(texts),
    execution_bounds: executionBounds(
      action,
      texts.all,
      state.policy,
      reach,
      context?.listed,
    ),
    output_fact_check: outputFactCheck(request, state),
    retrieval_integrity: retrievalIntegrity(request, state),
  }, state.policyVersion);
}

/** Combines the results of the rails: one that denies is enough, and so is one that asks. */
function combine(
  results: Readonly<Record<RailName, RailResult>>,
  policyVersion: string,
): GuardVerdict {
  const all = Object.values(results).flatMap(({ objections }) => objections);
  const decision: Decision = all.some(({ weight }) => weight === "deny")
    ? "deny"
    : all.length > 0
    ? "needs_approval"
    : "allow";
  return {
    approved: decision === "allow",
    decision,
    rails: Object.entries(results).map(([rail, result]) => railVerdict(rail as RailName, result)),
    policy_version: policyVersion,
  };
}

function railVerdict(rail: RailName, { objections, notes }: RailResult): RailVerdict {
  if (objections.length === 0) return { rail, passed: true, reasons: notes, remedy: null };
  const remedies = [...new Set(objections.map(({ remedy }) => remedy))];
  return {
    rail,
    passed: false,
    reasons: [...objections.map(({ reason }) => reason), ...notes],
    remedy: remedies.join(" "),
  };
}
