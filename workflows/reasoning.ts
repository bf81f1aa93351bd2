import { defineQuery, isCancellation, setCurrentDetails, setHandler } from "@temporalio/workflow";
import { perform, QUICK } from "./_options.ts";
import {
  type Look,
  type NodeName,
  type NodeRecord,
  NODES,
  type ReasoningRequest,
  type ReasoningResult,
  type Safety,
  type Seen,
} from "./reasoning_types.ts";

/** Asks a run which nodes it has done. */
export const nodesQuery = defineQuery<readonly NodeRecord[]>("nodes");

/** Most looks of one run, so that one prompt can't ask for all there is. */
const MOST_LOOKS = 12;

/**
 * Answers a prompt from what the platform knows, in seven nodes. It only reads, and says what it rests on.
 *
 * Works by rules; where a language model is configured, it is what judges in `retrieve`.
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
  const plan = await run.node("plan", async () => {
    const made = await perform(QUICK, "Decides what to look at").reasonPlan(intake, retrieved);
    return [made, made.looks.map(inWords).join(", ") || "nothing to look at"];
  });
  if (plan.kind === "unclear") {
    const answer = await perform(QUICK, "Asks what it is about").reasonQuestion(retrieved);
    return run.end("input_required", answer);
  }
  const seen = await run.node("act", async () => {
    const all = await Promise.all(plan.looks.slice(0, MOST_LOOKS).map(look));
    return [
      all,
      `${all.filter(({ says }) => says.length > 0).length} of ${all.length} found something`,
    ];
  });
  const objections = await run.node("verify", async () => {
    const word = await perform(QUICK, "Reads again what the answer will rest on")
      .reasonVerify(intake, seen);
    return [word, word.holds ? "nothing to object" : word.objections.join("; ")];
  });
  const { answer, citations } = await run.node("answer", async () => {
    const put = await perform(QUICK, "Puts the answer together")
      .reasonAnswer({ plan, retrieved, seen, objections });
    return [put, `${put.citations.length} citations`];
  });
  return run.end("answered", answer, citations);
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

const look = (one: Look): Promise<Seen> => perform(QUICK, `Asks ${inWords(one)}`).reasonLook(one);

const inWords = ({ tool, arguments: given }: Look) => [tool, ...Object.values(given)].join(" ");

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
    ): ReasoningResult {
      setCurrentDetails(`**${outcome}** · ${ways()}`);
      const skipped = (node: NodeName): NodeRecord => ({
        node,
        state: "skipped",
        seconds: 0,
        found: "",
      });
      const all = NODES.map((node) => steps.find((step) => step.node === node) ?? skipped(node));
      return { outcome, answer, citations, steps: all };
    },
  };
}
