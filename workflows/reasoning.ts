import { isCancellation, setCurrentDetails, setHandler } from "@temporalio/workflow";
import {
  type AnswerDraft,
  type AnswerRequest,
  type Authorship,
  type Lookup,
  type LookupResult,
  type NodeName,
  type NodeRecord,
  NODES,
  nodesQuery,
  type Plan,
  type ReasoningRequest,
  type ReasoningResult,
  type Safety,
} from "../domain/mod.ts";
import { evidenceOf } from "./_evidence.ts";
import { ONCE, perform, QUICK, SOON } from "./_options.ts";
import { BY_RULES, orWhyNot, written } from "./_drafts.ts";

/** Most looks of one run, so that one prompt can't ask for all there is. */
const MOST_LOOKS = 12;

/**
 * Answers a prompt from what the platform knows, in seven nodes. It only reads, and says what it rests on.
 *
 * Works by rules. Where a language model is configured, it judges in `retrieve`, chooses in `plan` for a prompt that names
 * nothing, and writes the answer from what `act` has seen, which `verify` holds against that.
 */
export async function reasoning({ prompt }: ReasoningRequest): Promise<ReasoningResult> {
  const run = track();
  const intake = await run.node("intake", async () => {
    const read = await perform(QUICK, "Reads what is asked, and finds what it names")
      .reasonIntake(prompt);
    const named = [...read.services, ...read.tickets, ...read.receipts, ...read.topics];
    return [read, `${read.kind}; names ${named.join(", ") || "nothing that is known here"}`];
  });
  const safety = await run.node("safety", async () => {
    const word = await safetyOf(prompt);
    return [word, word.passed ? "passed" : word.reasons.join("; ")];
  });
  if (!safety.passed) {
    const answer = await perform(QUICK, "Says why it is refused").reasonRefusal(safety);
    return run.end("refused", answer);
  }
  const retrieved = await run.node("retrieve", async () => {
    const known = await perform(QUICK, "Looks up what is known of such faults").reasonRetrieve(
      prompt,
    );
    const { classification: its, articles } = known;
    const sort = its ? `${its.category}, ${its.severity}, ${its.confidence}` : "the engine is away";
    return [known, `${sort}; ${articles.length} passages`];
  });
  const { plan, calls } = await run.node("plan", async () => {
    const made = await perform(QUICK, "Decides what to look at").reasonPlan(intake, retrieved);
    const chosen = made.kind === "unclear" ? await chosenPlan(prompt) : undefined;
    const looks = (chosen?.plan ?? made).lookups.map(inWords).join(", ") || "nothing to look at";
    const found = chosen?.plan ? `${looks}; chosen by ${chosen.by}` : looks;
    return [{ plan: chosen?.plan ?? made, calls: chosen?.calls ?? 0 }, found];
  });
  if (plan.kind === "unclear") {
    const answer = await perform(QUICK, "Asks what it is about").reasonQuestion(retrieved);
    return run.end("input_required", answer, [], { ...BY_RULES, model_calls: calls });
  }
  const seen = await run.node("act", async () => {
    const all = await Promise.all(plan.lookups.slice(0, MOST_LOOKS).map(look));
    return [
      all,
      `${all.filter(({ says }) => says.length > 0).length} of ${all.length} found something`,
    ];
  });
  const { objections, answerOf, by } = await run.node("verify", async () => {
    const word = await perform(QUICK, "Reads again what the answer will rest on")
      .reasonVerify(intake, seen);
    const says = seen.map(({ lookup, says }) => ({ from: lookup.tool, says }));
    const evidence = evidenceOf([...says, { from: "verify", says: word.objections }]);
    const [kept, by] = evidence.length > 0
      ? await writtenAnswer({ prompt, evidence }, calls)
      : [null, { ...BY_RULES, model_calls: calls }] as const;
    const answerOf = kept ? { draft: { claims: kept.claims, evidence } } : {};
    const found = [word.holds ? "nothing to object" : word.objections.join("; "), ...told(by)];
    return [{ objections: word, answerOf, by }, found.join("; ")];
  });
  const { answer, citations } = await run.node("answer", async () => {
    const put = await perform(QUICK, "Puts the answer together")
      .reasonAnswer({ plan, retrieved, results: seen, objections, ...answerOf });
    return [put, `${put.citations.length} citations, by ${by.written_by}`];
  });
  return run.end("answered", answer, citations, by);
}

/** What a model would look at for a prompt that names nothing; no plan: nothing, or there is none that could be asked. */
async function chosenPlan(
  prompt: string,
): Promise<{ plan?: Plan; by: string | null; calls: number }> {
  const draft = await orWhyNot(
    () => perform(ONCE, "Has a model choose, where one is configured").reasonChoose(prompt),
    "away",
  );
  if (typeof draft === "string") return { by: null, calls: 0 };
  const { content, model: by, asked } = draft;
  const calls = asked ? 1 : 0;
  if (!content || content.lookups.length === 0) return { by, calls };
  return { plan: { kind: "question", lookups: content.lookups }, by, calls };
}

/** What a model makes of what was seen, as far as that stands. @param calls of one before */
function writtenAnswer(order: AnswerRequest, calls: number) {
  return written({
    calls,
    write: (objections) =>
      perform(ONCE, "Has a model write the answer, where one is configured")
        .reasonWrite(order, objections),
    judge: (said: AnswerDraft) =>
      perform(SOON, "Holds the model's answer against what was seen").reasonJudge(order, said),
  });
}

/** What there is to say of a model that was asked. */
function told({ written_by, model_calls, dropped, fallback }: Authorship): string[] {
  if (fallback !== null) return [`the rules answer, as ${fallback}`];
  if (model_calls === 0) return [];
  const lost = dropped.length > 0 ? `, without what does not hold: ${dropped.join("; ")}` : "";
  return [`what ${written_by} wrote holds${lost}`];
}

/** While the guardrails can't be asked, nothing is answered. */
async function safetyOf(prompt: string): Promise<Safety> {
  try {
    return await perform(SHORT, "Holds the prompt against the guardrails").reasonSafety(prompt);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { passed: false, reasons: ["they can't be reached at the moment; ask again later"] };
  }
}

/** Somebody waits for the answer. */
const SHORT = { ...QUICK, scheduleToCloseTimeout: "10s" } as const;

const look = (one: Lookup): Promise<LookupResult> =>
  perform(QUICK, `Asks ${inWords(one)}`).reasonLook(one);

const inWords = ({ tool, arguments: given }: Lookup) => [tool, ...Object.values(given)].join(" ");

function track() {
  const steps: NodeRecord[] = [];
  setHandler(nodesQuery, () => steps);
  const ways = () => steps.map(({ node }) => node).join(" → ");
  return {
    async node<T>(node: NodeName, work: () => Promise<[T, string]>): Promise<T> {
      setCurrentDetails(`**${node}** · ${ways()}`);
      const began = Date.now();
      const seconds = () => (Date.now() - began) / 1000;
      try {
        const [result, found] = await work();
        steps.push({ node, state: "done", seconds: seconds(), found });
        return result;
      } catch (error) {
        steps.push({ node, state: "failed", seconds: seconds(), found: "" });
        throw error;
      }
    },
    end(
      outcome: ReasoningResult["outcome"],
      answer: string,
      citations: ReasoningResult["citations"] = [],
      by: Authorship = BY_RULES,
    ): ReasoningResult {
      setCurrentDetails(`**${outcome}** · ${ways()}`);
      const skipped = (node: NodeName): NodeRecord => ({
        node,
        state: "skipped",
        seconds: 0,
        found: "",
      });
      const all = NODES.map((node) => steps.find((step) => step.node === node) ?? skipped(node));
      return { outcome, answer, citations, ...by, steps: all };
    },
  };
}
