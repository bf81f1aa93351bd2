import { Problem } from "../../contract/mod.ts";
import type {
  AnswerInput,
  Intake,
  Lookup,
  LookupResult,
  Objections,
  Plan,
  Retrieved,
  Safety,
  Source,
} from "../../domain/mod.ts";
import { EngineUnavailable } from "../../engine/mod.ts";
import { getTicket, listServiceNames } from "../../store/mod.ts";
import { kindOfPrompt, readPrompt } from "./_prompt.ts";
import { LOOKUPS } from "./_lookups.ts";
import type { ActivityParts } from "../parts.ts";

/** Passages that an answer may cite. */
const MOST_ARTICLES = 3;

/** Confidence below which what is known of such faults is more likely to mislead. */
const SURE_ENOUGH = 0.6;

/** The nodes of the reasoning pipeline. All of them only read, and so are safe to repeat. */
export function reasoningActivities({ store, engine }: ActivityParts) {
  return {
    /** What the prompt names of what is known here. */
    reasonIntake: async (prompt: string): Promise<Intake> =>
      readPrompt(prompt, await listServiceNames(store.asPlatform())),

    /** The guardrails' rail for what is typed in. @throws {EngineUnavailable} then nothing is answered */
    async reasonSafety(prompt: string): Promise<Safety> {
      const { rails } = await engine.validate({ incident: prompt });
      const input = rails.find(({ rail }) => rail === "input_safety");
      if (!input) throw new Problem("Unavailable", "The guardrails gave no word on the input");
      return { passed: input.passed, reasons: input.passed ? [] : [...input.reasons] };
    },

    /** What is known of such faults; nothing while the engine is away. */
    async reasonRetrieve(prompt: string): Promise<Retrieved> {
      try {
        const { classification, rag_context, provider } = await engine.classify({
          description: prompt,
          source: "reasoning",
        });
        const { category, severity, confidence, recommended_action } = classification;
        return {
          classification: { category, severity, confidence, recommended_action },
          provider,
          articles: rag_context.passages.slice(0, MOST_ARTICLES)
            .map(({ id, kind, title, sha256 }) => ({ id, kind, title, sha256 })),
        };
      } catch (error) {
        if (!(error instanceof EngineUnavailable)) throw error;
        return { classification: null, provider: null, articles: [] };
      }
    },

    /** Which read-only tools to ask. */
    reasonPlan(intake: Intake, retrieved: Retrieved): Promise<Plan> {
      const kind = kindOfPrompt(intake, retrieved);
      return Promise.resolve({ kind, lookups: kind === "unclear" ? [] : looksFor(intake, kind) });
    },

    /** Asks one of them. */
    async reasonLook(look: Lookup): Promise<LookupResult> {
      const ask = LOOKUPS[look.tool];
      if (!ask) throw new Problem("NotFound", `The pipeline has no tool ${look.tool}`);
      return { lookup: look, ...await ask(store, look.arguments.of ?? "") };
    },

    /** Objects to what was named and not found, and to what is no longer as it was read. */
    async reasonVerify(intake: Intake, seen: readonly LookupResult[]): Promise<Objections> {
      const objections: string[] = [];
      for (const { lookup, says } of seen) {
        if (says.length === 0 && lookup.arguments.of) {
          const what = lookup.tool === "tickets_of_service" ? "ticket on" : lookup.tool;
          objections.push(`There is no ${what} ${lookup.arguments.of}.`);
        }
      }
      for (const id of intake.tickets) {
        const said = seen.find(({ lookup }) =>
          lookup.tool === "ticket" && lookup.arguments.of === id
        );
        const now = await getTicket(store.asPlatform(), id);
        if (said && now && !said.says[0]?.includes(`, ${now.status}, ${now.phase}`)) {
          objections.push(`${id} has moved on to ${now.phase} since it was read.`);
        }
      }
      return { holds: objections.length === 0, objections };
    },

    reasonAnswer: (found: AnswerInput) => Promise.resolve(answerOf(found)),

    reasonRefusal: ({ reasons }: Safety): Promise<string> =>
      Promise.resolve(`The guardrails refuse this text: ${reasons.join("; ")}`),

    /** Asks for what is missing. */
    async reasonQuestion({ classification }: Retrieved): Promise<string> {
      const names = (await listServiceNames(store.asPlatform())).slice(0, 8).join(", ");
      return [
        "Which incident or service is this about?",
        ...(classification === null
          ? ["(The engine is away, so only what is named can be looked up.)"]
          : []),
        `Say what fails and how, or name a ticket (INC-…), a receipt id, or a service${
          names ? ` such as ${names}` : ""
        }. Status, incidents, approvals, repairs, services and the ledger can be asked about, too.`,
      ].join(" ");
    },
  };
}

function looksFor({ services, tickets, receipts, topics }: Intake, kind: Plan["kind"]): Lookup[] {
  const look = (tool: string, of?: string): Lookup => ({ tool, arguments: of ? { of } : {} });
  const about = new Set(topics);
  const named = services.length + tickets.length + receipts.length > 0;
  return [
    ...receipts.map((id) => look("receipt", id)),
    ...tickets.map((id) => look("ticket", id)),
    ...services.flatMap((name) => [
      look("service", name),
      look("topology", name),
      look("tickets_of_service", name),
      ...(about.has("repairs") ? [look("repairs", name)] : []),
    ]),
    ...(about.has("status") ? [look("platform")] : []),
    ...(about.has("ledger") && receipts.length === 0 ? [look("ledger")] : []),
    ...(about.has("approvals") ? [look("approvals")] : []),
    ...(about.has("services") && services.length === 0 ? [look("services")] : []),
    ...(about.has("repairs") && services.length === 0 ? [look("repairs")] : []),
    ...((about.has("incidents") || kind === "incident") && !named ? [look("open_tickets")] : []),
  ];
}

/** Puts sentences together, each with the number of what it rests on. */
function answerOf({ plan, retrieved, results, objections, draft }: AnswerInput) {
  const citations: Source[] = [];
  const cite = (source: Source): string => {
    const at = citations.findIndex(({ id, kind }) => id === source.id && kind === source.kind);
    return `[${at >= 0 ? at + 1 : citations.push(source)}]`;
  };
  const said = results.flatMap(({ says, sources }) =>
    says.map((text, n) => ({
      text,
      sources: sources.length === 1 ? sources : sources.slice(n, n + 1),
    }))
  );
  const lines = (draft ? sourced(draft, said) : said).map(({ text, sources }) =>
    `${text} ${[...new Set(sources.map(cite))].join("")}`.trimEnd()
  );
  if (plan.kind === "incident") lines.push(...adviceOf(retrieved, results, cite));
  lines.push(...objections.objections);
  return {
    answer: lines.join("\n") || "Nothing was found that answers this.",
    citations,
  };
}

/** A sentence with what it rests on. */
interface Said {
  readonly text: string;
  readonly sources: readonly Source[];
}

/** A model's sentences, with the sources of the pieces of evidence that they cite. */
function sourced(
  { claims, evidence }: NonNullable<AnswerInput["draft"]>,
  said: readonly Said[],
): Said[] {
  return claims.map((claim) => ({
    text: claim.text,
    sources: claim.evidence.flatMap((n) => {
      const piece = evidence.find((one) => one.n === n)!.text;
      const whole = said.find(({ text }) => text === piece);
      const cut = piece.endsWith("…") ? piece.slice(0, -1) : undefined;
      const its = whole ?? said.find(({ text }) => cut !== undefined && text.startsWith(cut));
      return its?.sources ?? [];
    }),
  }));
}

/** What kind of fault it is by its words, and what to do about it. */
function adviceOf(
  { classification: its, articles, provider }: Retrieved,
  seen: readonly LookupResult[],
  cite: (source: Source) => string,
): string[] {
  const service = seen.find(({ lookup, says }) => lookup.tool === "service" && says.length > 0);
  const repair = service
    ? `To have it repaired under governance, call itsm_run_loop with service ${service.lookup.arguments.of}.`
    : "It names no service that is known here; itsm_run_loop with these words opens a ticket for people.";
  if (!its) {
    return ["The engine is away, so nothing can be said of what kind of fault this is.", repair];
  }
  const sure = its.confidence.toFixed(2);
  if (its.confidence < SURE_ENOUGH) {
    const unsure = `By its words it may be ${its.category}, which is too unsure (${sure}) to ` +
      "recommend anything.";
    return [unsure, repair];
  }
  const kind = `By its words this is ${its.category}, ${its.severity} (confidence ${sure}, ` +
    `judged by ${provider}) ${articles.map(cite).join("")}`;
  return [kind.trimEnd(), `Recommended: ${its.recommended_action}`, repair];
}
