import { Problem } from "../../contract/mod.ts";
import {
  type AgentName,
  type AnswerInput,
  type Intake,
  joinTexts,
  type Lookup,
  type LookupResult,
  type Objections,
  type Plan,
  type ReasoningRequest,
  type Retrieved,
  type Safety,
  say,
  type Text,
} from "../../contract/domain/mod.ts";
import { citedPassages, EngineUnavailable } from "../../judgement/engine/mod.ts";
import { getTicket } from "../../store/incidents/mod.ts";
import { listServiceNames } from "../../store/cmdb/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { type Answer, composeAnswerText } from "./_answer.ts";
import { planForAgent } from "./_agent_plan.ts";
import { planFor } from "./_plan.ts";
import { kindOfPrompt, readPromptWords } from "./_prompt.ts";
import { LOOKUPS } from "./lookups/mod.ts";

/** Services that are named as examples. */
const MAX_EXAMPLES = 8;

/** The text to answer. */
type Prompt = Pick<ReasoningRequest, "prompt">;

/** Creates the activities of the reasoning pipeline. All are safe to repeat: they only read. */
export function reasoningActivities({ store, engine, config }: ActivityParts) {
  const db = store.db;

  /** Returns what a prompt names of what the platform knows. */
  async function readPrompt({ prompt }: Prompt): Promise<Intake> {
    return readPromptWords(prompt, await listServiceNames(db));
  }

  /** Checks a prompt by the guardrails' input rail. @throws {EngineUnavailable} treat as refused */
  async function checkPrompt({ prompt }: Prompt): Promise<Safety> {
    const { rails } = await engine.validate({ incident: prompt }, store.tenant);
    const input = rails.find(({ rail }) => rail === "input_safety");
    if (!input) {
      throw new Problem("Unavailable", "The guardrails returned no verdict on the input");
    }
    return { passed: input.passed, reasons: input.passed ? [] : [...input.reasons] };
  }

  /** Classifies a prompt, and finds articles about such faults; returns nothing while the engine is away. */
  async function classifyPrompt({ prompt }: Prompt): Promise<Retrieved> {
    try {
      const result = await engine.classify({
        description: prompt,
        source: "reasoning",
      }, store.tenant);
      const { category, severity, confidence, recommended_action } = result.classification;
      return {
        classification: { category, severity, confidence, recommended_action },
        provider: result.provider,
        articles: citedPassages(result)
          .map(({ id, kind, title, sha256 }) => ({ id, kind, title, sha256 })),
      };
    } catch (error) {
      if (!(error instanceof EngineUnavailable)) throw error;
      return { classification: null, provider: null, articles: [] };
    }
  }

  /** Chooses the lookups for a prompt. */
  function planLookups(intake: Intake, retrieved: Retrieved): Promise<Plan> {
    return Promise.resolve(planFor(intake, kindOfPrompt(intake, retrieved)));
  }

  /** Chooses what an agent of the crew examines for a prompt. */
  async function planAgentLookups(
    agent: AgentName,
    intake: Intake,
    retrieved: Retrieved,
  ): Promise<Plan> {
    return await planForAgent(db, agent, { ...intake, kind: kindOfPrompt(intake, retrieved) });
  }

  /** Makes one lookup. @throws {Problem} `NotFound`: there is no such tool */
  async function lookUp(lookup: Lookup): Promise<LookupResult> {
    const tool = LOOKUPS[lookup.tool];
    if (!tool) throw new Problem("NotFound", `The pipeline has no tool ${lookup.tool}`);
    return { lookup, ...await tool({ store, db, config }, lookup.arguments.of ?? "") };
  }

  /** Objects to names that were not found, and to tickets that have changed since they were read. */
  async function verifyLookups(
    intake: Intake,
    results: readonly LookupResult[],
  ): Promise<Objections> {
    const objections: Text[] = [];
    for (const { lookup, says } of results) {
      if (says.length === 0 && lookup.arguments.of) {
        const what = lookup.tool === "tickets_of_service" ? "ticket on" : lookup.tool;
        objections.push(say`There is no ${what} ${lookup.arguments.of}.`);
      }
    }
    for (const id of intake.tickets) {
      const result = results.find(({ lookup }) =>
        lookup.tool === "ticket" && lookup.arguments.of === id
      );
      const ticket = await getTicket(db, id);
      if (
        result && ticket &&
        !String(result.says[0] ?? "").includes(`, ${ticket.status}, ${ticket.phase}`)
      ) {
        objections.push(say`${id} has moved on to ${ticket.phase} since it was read.`);
      }
    }
    return { holds: objections.length === 0, objections };
  }

  /** Composes the answer with its citations. */
  function composeAnswer(input: AnswerInput): Promise<Answer> {
    return Promise.resolve(composeAnswerText(input));
  }

  /** Composes the answer to a prompt that the guardrails refuse. */
  function composeRefusal({ reasons }: Safety): Promise<Pick<Answer, "answer">> {
    return Promise.resolve({ answer: say`The guardrails refuse this text: ${reasons.join("; ")}` });
  }

  /** Composes the question that asks for what is missing. */
  async function composeQuestion({ classification }: Retrieved): Promise<Pick<Answer, "answer">> {
    const names = (await listServiceNames(db)).slice(0, MAX_EXAMPLES).join(", ");
    const sentences = [
      say`Which incident or service is this about?`,
      ...(classification === null
        ? [say`(The engine is away, so only what is named can be looked up.)`]
        : []),
      say`Say what fails and how, or name a ticket (INC-…), a receipt id, or a service${
        names ? say` such as ${names}` : ""
      }.`,
      say`Status, incidents, approvals, repairs, services and the ledger can be asked about, too.`,
    ];
    return { answer: joinTexts(sentences, " ") };
  }

  return {
    readPrompt,
    checkPrompt,
    classifyPrompt,
    planLookups,
    planAgentLookups,
    lookUp,
    verifyLookups,
    composeAnswer,
    composeRefusal,
    composeQuestion,
  };
}
