import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { asProblem, Problem } from "../../contract/mod.ts";
import { ANONYMOUS_ACTOR, DECISIONS } from "../../contract/domain/mod.ts";
import { type GuardVerdict, RAILS } from "../../judgement/guard/mod.ts";
import { text } from "../schemas/mod.ts";

/** Maximum size of the action's JSON, bytes. */
const MAX_ACTION_LENGTH = 64_000;

const Action = z.looseObject({
  description: z.unknown().optional().describe("What is to be done, as free text"),
  command: z.unknown().optional().describe("A shell command line"),
  target: z.unknown().optional().describe("Name of a service or host"),
  confidence: z.unknown().optional().describe("Confidence in the repair, 0 to 1"),
  blast_radius: z.unknown().optional().describe(
    "Number of services that the repair affects, or low, medium or high for 1, 3 or 10",
  ),
  touches_secrets: z.unknown().optional().describe("Anything but a clear false counts as true"),
}).refine((action) => JSON.stringify(action).length <= MAX_ACTION_LENGTH, {
  message: `Expected at most ${MAX_ACTION_LENGTH} characters as JSON`,
});

const Verdict = z.object({
  approved: z.boolean().describe("True only for the decision `allow`"),
  decision: z.enum(DECISIONS),
  rails: z.array(z.object({
    rail: z.enum(RAILS),
    passed: z.boolean(),
    reasons: z.array(z.string()).describe("Why the rail did not pass, or what it examined"),
    remedy: z.string().nullable().describe("What would make the rail pass; null: it passed"),
  })),
  policy_version: z.string().describe("Number and hash of the policy that was applied"),
});

/** Judges a proposed repair by the guardrails. */
export const validateRepair = operation({
  name: "incidents.validate",
  group: "core",
  summary: "Validate a proposed repair against the guardrails: allow, needs_approval or deny",
  description:
    "Four rails examine it: the text (instructions to the judge, hidden characters, encodings, secrets), the effect and " +
    "reach of the command, the known facts about the services, and the citations. What no rail can read is not allowed. " +
    "Every verdict is sealed; texts stay private. While the engine is away the answer is `503 {error, approved: false}`.",
  effect: "run",
  access: "public",
  input: z.object({
    incident: text(1, 64_000).describe("What is wrong, as free text"),
    action: Action.optional().describe("The proposed repair; other fields are judged as text"),
  }),
  output: Verdict,
  rest: { validate: "POST /v1/validate" },
  presentation: { errors: ["Unavailable", "GuardrailsAway"] },
  governance: { rule: "sandbox-and-judgement" },
  durability: { sealsItself: true },
  example: {
    input: {
      incident: "nginx on web-01 answers 502 to all requests",
      action: {
        description: "Restart nginx",
        command: "systemctl restart nginx",
        target: "nginx",
        confidence: 0.92,
        blast_radius: 1,
        touches_secrets: false,
      },
    },
    output: {
      approved: true,
      decision: "allow",
      rails: [
        { rail: "input_safety", passed: true, reasons: [], remedy: null },
        {
          rail: "execution_bounds",
          passed: true,
          reasons: ["By the service graph it reaches 1 service"],
          remedy: null,
        },
        {
          rail: "output_fact_check",
          passed: true,
          reasons: ["The service graph knows the target nginx, last seen down"],
          remedy: null,
        },
        { rail: "retrieval_integrity", passed: true, reasons: ["Nothing is cited"], remedy: null },
      ],
      policy_version: "0-8bf5978c18e1",
    },
  },
  run: async (request, context) => {
    try {
      const verdict = await context.engine.validate(request, context.store.tenant);
      await sealVerdict(context, request, verdict);
      return verdict;
    } catch (error) {
      const problem = asProblem(error);
      if (problem.rule.status < 500) throw problem;
      context.log.warn({ error }, "A repair was refused, as the guardrails gave no verdict");
      await sealVerdict(context, request, undefined).catch(() => {}); // the store may be away, too
      throw withoutVerdict(problem);
    }
  },
});

/** Returns the error for a missing verdict. Its body has the contract's shape and says that nothing is approved. */
function withoutVerdict(cause: Problem): Problem {
  const error = "The guardrails can't be reached at the moment, so nothing is approved";
  return new Problem("GuardrailsAway", error, {
    body: { error, approved: false },
    headers: { "retry-after": "5" },
    cause,
  });
}

/** Stores the request to seal a verdict: the decision and the rails that passed. Texts stay private. */
async function sealVerdict(
  { sealer, store, caller }: Context,
  request: Readonly<Record<string, unknown>>,
  verdict: GuardVerdict | undefined,
): Promise<void> {
  const nonce = randomBytes(16).toString("hex");
  const evidence = JSON.stringify({ ...request, nonce });
  const hash = createHash("sha256").update(evidence).digest("hex");
  await sealer.request({
    id: hash.slice(0, 16),
    category: "guardrail_verdict",
    actor: caller.keyId === null ? ANONYMOUS_ACTOR : `key:${caller.keyId}`,
    subject: `validate-${hash.slice(0, 12)}`,
    action: "validate",
    outcome: verdict?.decision ?? "engine_unavailable",
    tenant: store.tenant,
    details: verdict
      ? {
        rails: Object.fromEntries(verdict.rails.map(({ rail, passed }) => [rail, passed])),
        policy_version: verdict.policy_version,
      }
      : {},
    evidence: { request: evidence, ...(verdict ? { verdict: JSON.stringify(verdict) } : {}) },
  });
}
