/** An agent without a model: it picks tools by the words of their descriptions, and fills in what a question names. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";

/** Returns the tools by how well they fit a question, best first. */
export type Rank = (question: string) => readonly Tool[];

/** Bounds of the calls for a question. */
interface Limits {
  /** True: tools that change things are called too. */
  readonly acts: boolean;
  /** Names that the agent knows as services'. */
  readonly services: readonly string[];
  readonly maxCalls: number;
  isAnswered(results: string): boolean;
}

/** The calls of a question, the length of their results as JSON, and all their words. */
interface Asked {
  readonly calls: readonly string[];
  readonly length: number;
  readonly results: string;
}

/** Parameters of BM25, as they are usual. */
const [K1, B] = [1.2, 0.75];
const STOP_WORDS = new Set(
  "a an and are as at by do does did for from has have how i in is it its me my of on or our that the them there they this to was we were what when where which who why will with you not any give many"
    .split(" "),
);

/** Returns the ranking by BM25 over names and descriptions. */
export function rankTools(tools: readonly Tool[]): Rank {
  const documents = tools.map((tool) => ({
    tool,
    words: wordsOf(`${tool.name.replaceAll(/[_.]/g, " ")} ${tool.description ?? ""}`),
  }));
  const mean = documents.reduce((sum, { words }) => sum + words.length, 0) / documents.length;
  const rarity = (word: string) => {
    const having = documents.filter(({ words }) => words.includes(word)).length;
    return Math.log(1 + (documents.length - having + 0.5) / (having + 0.5));
  };
  return (question) => {
    const asked = [...new Set(wordsOf(question))];
    const scored = documents.map(({ tool, words }) => {
      const score = asked.reduce((sum, word) => {
        const count = words.filter((other) => other === word).length;
        const length = 1 - B + B * words.length / mean;
        return sum + rarity(word) * count * (K1 + 1) / (count + K1 * length);
      }, 0);
      return { tool, score };
    });
    return scored.sort((a, b) => b.score - a.score).map(({ tool }) => tool);
  };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/[^a-z0-9]+/).filter((word) =>
    word !== "" && !STOP_WORDS.has(word)
  )
    .map((word) => word.replace(/(ies)$/, "y").replace(/(?<=\w{3})(ing|ed|es|s)$/, ""));
}

/** Asks a question. */
export async function ask(
  agent: Client,
  rank: Rank,
  question: string,
  { acts, services, maxCalls, isAnswered }: Limits,
): Promise<Asked> {
  const service = services.find((name) => question.includes(name));
  const candidates = rank(question).filter(({ annotations }) =>
    acts ? !annotations?.readOnlyHint : annotations?.readOnlyHint
  );
  const calls: string[] = [];
  let [results, length] = ["", 0];
  while (calls.length < maxCalls && !(calls.length > 0 && isAnswered(results))) {
    const next = candidates.filter(({ name }) => !calls.includes(name))
      .map((tool) => ({ tool, input: fillIn(tool, question, service, results) }))
      .find(({ input }) => input !== undefined);
    if (!next) break;
    const { tool, input } = next;
    const result = await agent.callTool({ name: tool.name, arguments: input }) as CallToolResult;
    calls.push(tool.name);
    length +=
      JSON.stringify({ content: result.content, structured: result.structuredContent }).length;
    results += `${
      result.content.map((part) => part.type === "text" ? part.text : "").join("\n")
    }\n` +
      `${JSON.stringify(result.structuredContent ?? {})}\n`;
  }
  return { calls, length, results };
}

const QUESTION_FIELDS = ["question", "prompt", "query", "incident", "reason"];

/** Returns a tool's arguments as far as they are known; undefined: one that it needs is not. */
function fillIn(
  { inputSchema }: Tool,
  question: string,
  service: string | undefined,
  results: string,
): Record<string, unknown> | undefined {
  const known: Record<string, unknown> = {
    ...Object.fromEntries(QUESTION_FIELDS.map((name) => [name, question])),
    ...(service ? { service } : {}),
    ...idsIn(results, service),
  };
  const { properties = {}, required = [] } = inputSchema;
  const fillable = Object.keys(properties).filter((name) =>
    Object.hasOwn(known, name) &&
    (required.includes(name) || name === "service" || name === "reason")
  );
  if (!required.every((name) => fillable.includes(name))) return undefined;
  return Object.fromEntries(fillable.map((name) => [name, known[name]]));
}

/** Returns the ids in earlier results: those on the line that names the service, else the first. */
function idsIn(results: string, service: string | undefined): Record<string, string> {
  const all = results.split("\n");
  const lines = [...all.filter((line) => service && line.includes(service)), ...all].join("\n");
  const incident = /INC-[0-9a-f]{12}/.exec(lines)?.[0];
  const receipt = /\breceipt(?:_id)?\W+([0-9a-f]{16,64})\b/.exec(lines)?.[1];
  return {
    ...(incident ? { incident_id: incident, ticket_id: incident } : {}),
    ...(receipt ? { receipt_id: receipt } : {}),
  };
}
