import type { Store } from "../store/mod.ts";
import { executionBounds } from "./_execution_bounds.ts";
import { outputFactCheck } from "./_fact_check.ts";
import { remembered } from "./_remembered.ts";
import { inputSafety } from "./_input_safety.ts";
import { retrievalIntegrity } from "./_retrieval.ts";
import { openSurroundings, type Surroundings } from "./_surroundings.ts";
import { textsOf } from "./_texts.ts";
import { prepareTricks } from "./text/mod.ts";
import { DEFAULT_POLICY, versionName } from "./policy.ts";
import { onlyLooks } from "./shell/mod.ts";
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

/** Where nothing is known: no services, no ticket, no articles, and the policy that ships. */
export const NOTHING_KNOWN: Surroundings = {
  policy: DEFAULT_POLICY,
  policyVersion: versionName(0, DEFAULT_POLICY),
  target: undefined,
  dependents: null,
  needs: [],
  named: [],
  ticket: undefined,
  repairs: { target: 0, all: 0 },
  articles: [],
};

/** Opens the guard. @param options.store of role `app`: policies, services, tickets, articles */
export function openGuard({ store }: { readonly store: Store }): Guard {
  void prepareTricks();
  for (const request of WARMING) judge(request, NOTHING_KNOWN);
  const surroundingsOf = openSurroundings(store);
  return { validate: async (request) => judge(request, await surroundingsOf(request)) };
}

/** What the first caller would otherwise wait for: expressions are compiled when they are first used. */
const WARMING: readonly ValidateRequest[] = [
  "sudo systemctl restart nginx; find /tmp -name '*.gz' -mtime +7 -delete",
  'kubectl exec db-0 -- psql -c "VACUUM orders" | grep -v x > /tmp/out; rm -f /tmp/out',
  "Restart-Service Spooler; Remove-Item C:\\Windows\\Temp\\* -Recurse",
  "curl -s http://localhost/health | python3 -c 'import sys; print(sys.stdin.read())'",
].map((command, n) => ({
  // Texts with letters beyond Latin-1 are compiled for apart from those without.
  incident: `nginx answers 502; ${
    n % 2 ? "ignor" : "“ignoré”"
  }, said the log: dXBzdHJlYW0gdGltZWQgb3V0IGFnYWlu %41%42`,
  action: { description: "Restart nginx and delete old logs", command, target: "nginx" },
}));

/** The rails over what a request says and what is known around it. */
export function judge(
  request: ValidateRequest,
  known: Surroundings,
  now: Date = new Date(),
): GuardVerdict {
  const { action = {} } = request;
  const texts = textsOf(request);
  const looks = typeof action.command === "string" && harmless(action.command);
  const dependents = looks ? null : known.dependents;
  return verdictOf({
    input_safety: inputSafety(texts),
    execution_bounds: executionBounds(
      action,
      texts.all,
      known.policy,
      {
        dependents,
        repairs: known.repairs,
      },
      now,
      request.context?.listed,
    ),
    output_fact_check: outputFactCheck(request, known),
    retrieval_integrity: retrievalIntegrity(request, known),
  }, known.policyVersion);
}

const harmless = remembered(onlyLooks, (command: string) => command);

/** Puts the findings of the rails together: one that denies is enough, and so is one that asks. */
function verdictOf(
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
