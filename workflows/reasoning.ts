import { isCancellation } from "@temporalio/workflow";
import type {
  AgentName,
  AnswerDraft,
  AnswerInput,
  AnswerRequest,
  Authorship,
  Intake,
  Lookup,
  LookupResult,
  Objections,
  Plan,
  ReasoningRequest,
  ReasoningResult,
  Retrieved,
  Safety,
} from "../contract/domain/mod.ts";
import { askAgent, planForAgent } from "./_ask_agent.ts";
import { BY_RULES, resultOrReason, writeAndReview } from "./_drafts.ts";
import { evidenceOf } from "./_evidence.ts";
import { trackNodes } from "./_nodes.ts";
import { INTERACTIVE, MODEL_CALL, MODEL_REVIEW, perform, QUICK } from "./_options.ts";

/** Most lookups of one run, so that one prompt can't read everything. */
const MAX_LOOKUPS = 12;

/** A plan, and the calls of a model that it took. */
interface MadePlan {
  readonly plan: Plan;
  readonly calls: number;
  /** The model that chose the lookups; absent: the rules did. */
  readonly chosenBy?: string;
}

/** Result of the node `verify`. */
interface Verified {
  readonly objections: Objections;
  /** A model's reviewed text; absent: the rules write the answer. */
  readonly draft?: AnswerInput["draft"];
  readonly by: Authorship;
}

/**
 * Answers a prompt from what the platform knows, in seven nodes. It only reads, and cites its sources.
 *
 * Where an agent of the crew is asked, `plan` chooses what that agent examines, and `act` has it report.
 *
 * It works by rules. Where a model is configured, it classifies in `retrieve`, chooses lookups in `plan` for a prompt
 * that names nothing, and writes the answer, which `verify` checks against what `act` has read.
 */
export async function reasoning(
  { prompt, agent }: ReasoningRequest,
): Promise<ReasoningResult> {
  const run = trackNodes();
  const intake = await run.node("intake", () => readPrompt(prompt));
  const safety = await run.node("safety", () => checkPrompt(prompt));
  if (!safety.passed) {
    const { answer } = await perform(QUICK, "Says why it is refused").composeRefusal(safety);
    return run.end("refused", String(answer));
  }
  const retrieved = await run.node("retrieve", () => classifyPrompt(prompt));
  const { plan, calls } = await run.node(
    "plan",
    () => makePlan(prompt, intake, retrieved, agent),
  );
  if (plan.kind === "unclear") {
    const { answer } = await perform(QUICK, "Asks what it is about").composeQuestion(retrieved);
    return run.end("input_required", String(answer), [], { ...BY_RULES, model_calls: calls });
  }
  const results = await run.node(
    "act",
    () => agent ? askAgent(agent, prompt, plan) : lookUpAll(plan),
  );
  const { objections, draft, by } = await run.node(
    "verify",
    () => verifyAndWrite(prompt, intake, results, calls),
  );
  const { answer, citations } = await run.node("answer", async () => {
    const composed = await perform(QUICK, "Composes the answer")
      .composeAnswer({ plan, retrieved, results, objections, ...(draft ? { draft } : {}) });
    return [composed, `${composed.citations.length} citations, by ${by.written_by}`];
  });
  return run.end("answered", String(answer), citations, by);
}

async function readPrompt(prompt: string): Promise<[Intake, string]> {
  const intake = await perform(QUICK, "Reads what the prompt names").readPrompt({ prompt });
  const { kind, services, tickets, receipts, topics } = intake;
  const named = [...services, ...tickets, ...receipts, ...topics].join(", ");
  return [intake, `${kind}; names ${named || "nothing that is known here"}`];
}

/** While the guardrails are away, nothing is answered. */
async function checkPrompt(prompt: string): Promise<[Safety, string]> {
  let safety: Safety;
  try {
    safety = await perform(INTERACTIVE, "Checks the prompt by the guardrails").checkPrompt({
      prompt,
    });
  } catch (error) {
    if (isCancellation(error)) throw error;
    safety = { passed: false, reasons: ["they can't be reached at the moment; ask again later"] };
  }
  return [safety, safety.passed ? "passed" : safety.reasons.join("; ")];
}

async function classifyPrompt(prompt: string): Promise<[Retrieved, string]> {
  const retrieved = await perform(QUICK, "Looks up what is known of such faults")
    .classifyPrompt({ prompt });
  const { classification, articles } = retrieved;
  const kind = classification
    ? `${classification.category}, ${classification.severity}, ${classification.confidence}`
    : "the engine is away";
  return [retrieved, `${kind}; ${articles.length} passages`];
}

/** Plans by rules; where these find nothing to look up, a model may choose. */
async function makePlan(
  prompt: string,
  intake: Intake,
  retrieved: Retrieved,
  agent: AgentName | undefined,
): Promise<[MadePlan, string]> {
  if (agent) {
    const [plan, found] = await planForAgent(agent, intake, retrieved);
    return [{ plan, calls: 0 }, found];
  }
  const plan = await perform(QUICK, "Plans the lookups").planLookups(intake, retrieved);
  const made = plan.kind === "unclear" ? await choosePlan(prompt, plan) : { plan, calls: 0 };
  const lookups = made.plan.lookups.map(describe).join(", ") || "nothing to look at";
  return [made, made.chosenBy ? `${lookups}; chosen by ${made.chosenBy}` : lookups];
}

/** @param fallback stays where no model is configured, or it chooses nothing */
async function choosePlan(prompt: string, fallback: Plan): Promise<MadePlan> {
  const draft = await resultOrReason(
    () => perform(MODEL_CALL, "Has a model choose, where one is configured").draftPlan({ prompt }),
    "away",
  );
  if (typeof draft === "string") return { plan: fallback, calls: 0 };
  const calls = draft.asked ? 1 : 0;
  const lookups = draft.content?.lookups ?? [];
  if (lookups.length === 0) return { plan: fallback, calls };
  return { plan: { kind: "question", lookups }, calls, chosenBy: `${draft.model}` };
}

async function lookUpAll({ lookups }: Plan): Promise<[LookupResult[], string]> {
  const results = await Promise.all(
    lookups.slice(0, MAX_LOOKUPS).map((lookup) =>
      perform(QUICK, `Looks up: ${lookup.tool}`).lookUp(lookup)
    ),
  );
  const successful = results.filter(({ says }) => says.length > 0).length;
  return [results, `${successful} of ${results.length} found something`];
}

/** Verifies what was read, and has a model write the answer from it. */
async function verifyAndWrite(
  prompt: string,
  intake: Intake,
  results: readonly LookupResult[],
  calls: number,
): Promise<[Verified, string]> {
  const objections = await perform(QUICK, "Reads again what the answer will rest on")
    .verifyLookups(intake, results);
  const evidence = evidenceOf([
    ...results.map(({ lookup, says }) => ({ from: lookup.tool, says: says.map(String) })),
    { from: "verify", says: objections.objections.map(String) },
  ]);
  const [kept, by] = evidence.length > 0
    ? await writeAnswer({ prompt, evidence }, calls)
    : [null, { ...BY_RULES, model_calls: calls }] as const;
  const found = [
    objections.holds ? "nothing to object" : objections.objections.map(String).join("; "),
    ...describeAuthorship(by),
  ];
  const draft = kept ? { draft: { claims: kept.claims, evidence } } : {};
  return [{ objections, by, ...draft }, found.join("; ")];
}

/** Has a model write the answer, as far as it holds. @param calls of a model earlier in this run */
function writeAnswer(request: AnswerRequest, calls: number) {
  return writeAndReview({
    calls,
    write: (objections) =>
      perform(MODEL_CALL, "Has a model write the answer, where one is configured")
        .draftAnswer(request, objections),
    review: (draft: AnswerDraft) =>
      perform(MODEL_REVIEW, "Checks the model's answer against what was read")
        .reviewAnswer(request, draft),
  });
}

function describeAuthorship(
  { written_by, model_calls, dropped, fallback }: Authorship,
): string[] {
  if (fallback !== null) return [`the rules answer, as ${fallback}`];
  if (model_calls === 0) return [];
  const lost = dropped.length > 0 ? `, without what does not hold: ${dropped.join("; ")}` : "";
  return [`what ${written_by} wrote holds${lost}`];
}

function describe({ tool, arguments: args }: Lookup): string {
  return [tool, ...Object.values(args)].join(" ");
}
