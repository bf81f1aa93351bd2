import { redactSecrets, stripInvisible } from "../../contract/mod.ts";
import type { AgentAnswer, Question, Source } from "../../contract/domain/mod.ts";
import type { AgentNote } from "../../store/agents/mod.ts";

/** Longest text of an answer, in characters. */
const MAX_ANSWER = 16_000;
/** Most notes that an answer quotes, and characters of each. */
const MAX_QUOTES = 3;
const MAX_QUOTE = 300;

/** Names of what is cited, for one and for several. */
const KINDS: Readonly<Record<Source["kind"], readonly [string, string]>> = {
  service: ["service of the service graph", "services of the service graph"],
  ticket: ["ticket", "tickets"],
  incident: ["earlier incident", "earlier incidents"],
  receipt: ["receipt", "receipts"],
  article: ["article of the knowledge base", "articles of the knowledge base"],
  approval: ["approval", "approvals"],
  platform: ["look at the platform's own records", "looks at the platform's own records"],
  note: ["note", "notes"],
};

/** The ground of what an agent of another organization says. */
const HEARSAY = "This stands on that agent's word alone: nothing on record here confirms it.";

/** An answer as its reader gets it. */
export interface AnswerText {
  readonly text: string;
  readonly citations: readonly Source[];
}

/**
 * Completes an answer: what the question was taken to be about, what the answer stands on, and the notes on the agent that
 * speak of the same.
 *
 * Notes come last and are only quoted: nothing is looked up for them, and no model reads them.
 */
export function completeAnswer(
  { assumed, prompt }: Question,
  given: AgentAnswer,
  notes: readonly AgentNote[],
): AnswerText {
  const { outcome, answer, citations, provider } = given;
  const isPeers = provider === "a2a";
  const subjects = [...assumed, ...citations.map(({ id }) => id)];
  const quoted = notes.filter(({ text }) =>
    /\bnotes?\b/i.test(prompt) || subjects.some((subject) => names(text, subject))
  ).slice(0, MAX_QUOTES);
  const lines = [
    ...(assumed.length > 0 ? [`I take this to be about ${assumed.join(", ")}, as before.`] : []),
    ...(outcome === "input_required" && !isPeers
      ? ["I don't know: it names nothing that is on record."]
      : []),
    answer,
    ...(outcome === "answered" ? [isPeers ? HEARSAY : groundsOf(citations)] : []),
    ...quoted.map((note, at) => quote(note, citations.length + at + 1)),
  ];
  return {
    text: lines.join("\n").slice(0, MAX_ANSWER),
    citations: [
      ...citations,
      ...quoted.map(({ id, author }) => ({
        id,
        kind: "note" as const,
        title: `Note by ${author}`,
      })),
    ],
  };
}

/** Returns the sentence on what an answer stands on. */
function groundsOf(citations: readonly Source[]): string {
  if (citations.length === 0) return "I don't know more: nothing on record answers this.";
  const counts = new Map<Source["kind"], number>();
  for (const { kind } of citations) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const grounds = [...counts].map(([kind, count]) =>
    `${count} ${KINDS[kind][count === 1 ? 0 : 1]}`
  );
  return `This stands on ${grounds.join(", ")}.`;
}

function quote({ author, at, text }: AgentNote, citation: number): string {
  const plain = redactSecrets(stripInvisible(text)).replace(/\s+/g, " ");
  const cut = plain.length > MAX_QUOTE ? `${plain.slice(0, MAX_QUOTE - 1)}…` : plain;
  return `A note by ${author} of ${at.slice(0, 10)} says: ${JSON.stringify(cut)} [${citation}]`;
}

/** Returns whether a text has a name or an id as a word of its own. */
function names(text: string, subject: string): boolean {
  const [before, after] = ["(?<![\\w-])", "(?![\\w-])"];
  const escaped = subject.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`${before}${escaped}${after}`, "i").test(text);
}
