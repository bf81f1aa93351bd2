/** Rules that hold what a model wrote against what it was given. */
import type { Claim, Evidence } from "../../domain/mod.ts";
import type { Engine } from "../../engine/mod.ts";
import { findInjection } from "../../guard/mod.ts";

/** What sentences are held against. */
export interface ClaimGrounds {
  readonly evidence: readonly Evidence[];
  /** What was reported or asked. */
  readonly report: string;
  /** Services that may be named. */
  readonly services: readonly string[];
}

/** Sentences that hold, and what speaks against the others. */
export interface CheckedClaims {
  readonly kept: readonly Claim[];
  readonly objections: readonly string[];
  /** One of them is meant to steer whoever reads it: then none is to be trusted. */
  readonly injected: boolean;
}

/** Holds each sentence against what it cites, and against the guardrails. @throws {EngineUnavailable} */
export async function checkClaims(
  engine: Engine,
  claims: readonly Claim[],
  grounds: ClaimGrounds,
): Promise<CheckedClaims> {
  const words = await Promise.all(claims.map(async (said) => {
    const claim = { ...said, text: withoutMarks(said.text) };
    const injection = await injectionIn(engine, claim.text);
    return { claim, injection, objection: injection ?? claimObjection(claim, grounds) };
  }));
  return {
    kept: words.flatMap(({ claim, objection }) => objection === undefined ? [claim] : []),
    objections: [...new Set(words.flatMap(({ objection }) => objection ?? []))],
    injected: words.some(({ injection }) => injection !== undefined),
  };
}

/** What it rests on is told beside a sentence: numbers in it would name something else where it is shown. */
const withoutMarks = (text: string) => text.replace(/\s*\[\s*\d{1,4}(?:\s*,\s*\d{1,4})*\s*\]/g, "");

async function injectionIn(engine: Engine, text: string): Promise<string | undefined> {
  if (findInjection(text).length > 0) return "A sentence is meant to steer whoever reads it";
  const { rails } = await engine.validate({ incident: text });
  const input = rails.find(({ rail }) => rail === "input_safety");
  return input?.passed ? undefined : "The guardrails refuse a sentence";
}

/** What speaks against a sentence by its citations and its words; undefined: nothing. */
export function claimObjection(
  { text, evidence: cited }: Claim,
  grounds: ClaimGrounds,
): string | undefined {
  const { evidence, report, services } = grounds;
  const last = evidence.length;
  if (text.trim() === "") return "A sentence says nothing";
  if (cited.length === 0) return "A sentence cites no evidence";
  const foreign = cited.find((n) => !evidence.some((piece) => piece.n === n));
  if (foreign !== undefined) {
    return `A sentence cites ${foreign}, and the evidence ends with ${last}`;
  }
  if (ORDERS.test(text)) return "A sentence says what should be done, in place of what is";
  if (ADDRESS.test(text)) return "A sentence gives an address";
  const basis = [...evidence.filter(({ n }) => cited.includes(n)).map((one) => one.text), report]
    .join("\n").toLowerCase();
  const known = new Set(services.map((name) => name.toLowerCase()));
  const strange = namesIn(text, known).find((name) =>
    !known.has(name.toLowerCase()) && !holds(basis, name.toLowerCase())
  );
  return strange === undefined
    ? undefined
    : `A sentence names ${
      strange.slice(0, 60).toWellFormed()
    }, which is no service that was found, and not in what it cites`;
}

/** A sentence, or a part of one, that begins with what to do. */
const ORDERS =
  /(?:^|[.;:!?]\s+|,\s+(?:and\s+)?(?:then\s+)?)["'“`(]*(?:please\s+|then\s+|now\s+|next,?\s+|first,?\s+|fix:?\s+|to fix (?:it|this|that),?\s+|you (?:should|must|need to)\s+)*(?:run|execute|call|invoke|trigger|restart|reboot|kill|delete|remove|drop|truncate|wipe|approve|grant|disable|enable|install|download|curl|wget|chmod|sudo|roll back|rollback|apply|scale|open|click|send|type)\s+(?!of\b)|\b(?:you|operators?|someone|people) (?:should|must|need to|have to)\b/i;
const ADDRESS = /[a-z][a-z0-9+.-]*:\/\/|\bwww\.|[\w.+-]+@[\w-]+\.\w/i;

/** Words that name something, by their look: ids, numbers, paths, files, and what stands between backticks. */
function namesIn(text: string, known: ReadonlySet<string>): string[] {
  const quoted = [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!.trim());
  const words = text.split(/[\s`]+/)
    .map((word) => word.replace(/^[^\w/]+|(?:['’]s)?[^\w/%]*$/g, ""));
  return [...quoted, ...words.filter((word) => isName(word, known))];
}

function isName(word: string, known: ReadonlySet<string>): boolean {
  if (/\d|_|[a-z][A-Z]/.test(word) || /^[/\\~]\w|\/\w+\/|\w{2,}\.\w{2,}/.test(word)) return true;
  const parts = word.toLowerCase().split("-");
  if (parts.length === 1) return false; // one like a known service's name, as its sibling would have it:
  return [...known].some((name) => {
    const its = name.split("-");
    return its.length > 1 && (its[0] === parts[0] || its.at(-1) === parts.at(-1));
  });
}

/** Whether a text has a name as a whole, not as a part of another, or a number as a part of one with a point. */
function holds(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const end = at + name.length;
    if (!GOES_BEFORE.test(text.slice(Math.max(0, at - 2), at)) && !GOES_ON.test(text.slice(end))) {
      return true;
    }
  }
  return false;
}

/** What a name goes on with, at its end and at its beginning. */
const GOES_ON = /^(?:[\p{L}\p{N}_]|[-.][\p{L}\p{N}_]|,\d)/u;
const GOES_BEFORE = /(?:[\p{L}\p{N}_]|[\p{L}\p{N}_][-.]|\d,)$/u;
