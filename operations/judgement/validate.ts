import { createHash, randomBytes } from "node:crypto";
import { type GuardVerdict, RAILS } from "../../guard/mod.ts";
import { DECISIONS } from "../../domain/mod.ts";
import { z } from "zod";
import { asProblem, Problem } from "../../contract/mod.ts";
import { characters } from "../_shapes.ts";
import { type Context, operation } from "../../calls/mod.ts";

/** Longest action, as JSON. */
const MOST_ACTION = 64_000;

const Action = z.looseObject({
  description: z.unknown().optional().describe("What is to be done, in words"),
  command: z.unknown().optional().describe("A shell line"),
  target: z.unknown().optional().describe("Service or host"),
  confidence: z.unknown().optional().describe("0 to 1"),
  blast_radius: z.unknown().optional().describe(
    "Number of services that it reaches, or low, medium or high for 1, 3 or 10",
  ),
  touches_secrets: z.unknown().optional().describe("Anything but a clear no counts as a yes"),
}).refine((action) => JSON.stringify(action).length <= MOST_ACTION, {
  message: `Expected at most ${MOST_ACTION} characters as JSON`,
});

const Verdict = z.object({
  approved: z.boolean().describe("True for `allow` alone"),
  decision: z.enum(DECISIONS),
  rails: z.array(z.object({
    rail: z.enum(RAILS),
    passed: z.boolean(),
    reasons: z.array(z.string()).describe("Why it is not passed; or what was looked at"),
    remedy: z.string().nullable().describe("What would make it pass; null: it has passed"),
  })),
  policy_version: z.string().describe("The policy that was applied: its number and hash"),
});

/** Says whether a proposed repair may be done, must be shown to a person first, or is refused. */
export const validate = operation({
  name: "incidents.validate",
  group: "core",
  summary: "Hold a proposed repair against the guardrails: allow, needs_approval or deny",
  description:
    "Four rails look at it: the text (orders to the judge, hidden characters, encodings, secrets), what " +
    "the command would do and how far it reaches, what is known of the services, and what is cited. " +
    "What no rail can read is not allowed. Every verdict is sealed; texts stay private. While the engine " +
    "is away the answer is `503 {error, approved: false}`.",
  effect: "run",
  access: "public",
  sealsItself: true,
  input: z.object({
    incident: characters(1, 64_000).describe("What is wrong, in any words"),
    action: Action.optional().describe("What is proposed; other keys are kept, and read as text"),
  }),
  output: Verdict,
  rest: { validate: "POST /v1/validate" },
  errors: ["Unavailable", "GuardrailsAway"],
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
        { rail: "execution_bounds", passed: true, reasons: [], remedy: null },
        {
          rail: "output_fact_check",
          passed: true,
          reasons: [
            "The service graph does not know the target: what is said of it can't be checked",
          ],
          remedy: null,
        },
        { rail: "retrieval_integrity", passed: true, reasons: ["Nothing is cited"], remedy: null },
      ],
      policy_version: "0-2f1c5d0b9a7e",
    },
  },
  run: async (request, context) => {
    try {
      const verdict = await context.engine.validate(request);
      await seal(context, request, verdict);
      const rails = verdict.rails.map((one) => ({ ...one, reasons: [...one.reasons] }));
      return { ...verdict, rails };
    } catch (error) {
      const problem = asProblem(error);
      if (problem.rule.status < 500) throw problem;
      context.log.warn({ error }, "An action was refused, as the guardrails gave no verdict");
      await seal(context, request, undefined).catch(() => {}); // the store may be what is away
      throw refusal(problem);
    }
  },
});

/** No verdict is a refusal, and says so in the contract's shape. */
function refusal(cause: Problem): Problem {
  const error = "The guardrails can't be reached at the moment, so nothing is approved";
  return new Problem("GuardrailsAway", error, {
    body: { error, approved: false },
    headers: { "retry-after": "5" },
    cause,
  });
}

/** Asks for the receipt: the decision and which rails passed; what was said of them stays private. */
async function seal(
  { sealer, caller }: Context,
  request: Readonly<Record<string, unknown>>,
  verdict: GuardVerdict | undefined,
): Promise<void> {
  const nonce = randomBytes(16).toString("hex");
  const text = JSON.stringify({ ...request, nonce });
  const hash = createHash("sha256").update(text).digest("hex");
  await sealer.request({
    id: hash.slice(0, 16),
    category: "guardrail_verdict",
    actor: caller.keyId === null ? "anonymous" : `key:${caller.keyId}`,
    subject: `validate-${hash.slice(0, 12)}`,
    action: "validate",
    outcome: verdict?.decision ?? "engine_unavailable",
    details: verdict
      ? {
        rails: Object.fromEntries(verdict.rails.map(({ rail, passed }) => [rail, passed])),
        policy_version: verdict.policy_version,
      }
      : {},
    evidence: { request: text, ...(verdict ? { verdict: JSON.stringify(verdict) } : {}) },
  });
}
