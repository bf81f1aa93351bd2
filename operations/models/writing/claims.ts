import type { Claim, Evidence } from "../../../contract/domain/mod.ts";
import type { Engine } from "../../../judgement/engine/mod.ts";
import { findInjection } from "../../../judgement/guard/mod.ts";
import {
  ADDRESS,
  CITATION_MARK,
  CONTINUES_AFTER,
  CONTINUES_BEFORE,
  INSTRUCTION,
  NAME_SHAPES,
} from "./_claim_words.ts";
import { accusationObjection, measurementObjection, supportObjection } from "./_support.ts";

/** The grounds on which claims are checked. */
export interface ClaimGrounds {
  /** Tenant that the claims are made for. */
  readonly tenant: string;
  readonly evidence: readonly Evidence[];
  /** The report or question. */
  readonly report: string;
  /** Services that may be named. */
  readonly services: readonly string[];
}

/** Claims after the check. */
export interface CheckedClaims {
  /** Claims without an objection. */
  readonly kept: readonly Claim[];
  readonly objections: readonly string[];
  /** True: one of them tries to instruct its reader, so none is to be trusted. */
  readonly hasInjection: boolean;
}

/** Checks claims by the guardrails and by what they cite. @throws {EngineUnavailable} */
export async function checkClaims(
  engine: Engine,
  claims: readonly Claim[],
  grounds: ClaimGrounds,
): Promise<CheckedClaims> {
  const checks = await Promise.all(claims.map(async ({ text, evidence }) => {
    // Citations are shown beside a sentence; numbers in it would name other things there.
    const claim = { text: text.replace(CITATION_MARK, ""), evidence };
    const injection = await findInjectionIn(engine, claim.text, grounds.tenant);
    return { claim, injection, objection: injection ?? claimObjection(claim, grounds) };
  }));
  return {
    kept: checks.flatMap(({ claim, objection }) => objection === undefined ? [claim] : []),
    objections: [...new Set(checks.flatMap(({ objection }) => objection ?? []))],
    hasInjection: checks.some(({ injection }) => injection !== undefined),
  };
}

async function findInjectionIn(
  engine: Engine,
  text: string,
  tenant: string,
): Promise<string | undefined> {
  if (findInjection(text).length > 0) return "A sentence is meant to steer whoever reads it";
  const { rails } = await engine.validate({ incident: text }, tenant);
  const inputRail = rails.find(({ rail }) => rail === "input_safety");
  return inputRail?.passed ? undefined : "The guardrails refuse a sentence";
}

/** Returns the objection to a claim by its citations and its words; undefined if there is none. */
export function claimObjection(
  { text, evidence: cited }: Claim,
  { evidence, report, services }: Omit<ClaimGrounds, "tenant">,
): string | undefined {
  if (text.trim() === "") return "A sentence says nothing";
  if (cited.length === 0) return "A sentence cites no evidence";
  const missing = cited.find((n) => !evidence.some((piece) => piece.n === n));
  if (missing !== undefined) {
    return `A sentence cites ${missing}, and the evidence ends with ${evidence.length}`;
  }
  if (INSTRUCTION.test(text)) return "A sentence says what should be done, in place of what is";
  if (ADDRESS.test(text)) return "A sentence gives an address";
  const citedTexts = evidence.filter(({ n }) => cited.includes(n)).map((piece) => piece.text);
  const basis = [...citedTexts, report].join("\n").toLowerCase();
  const known = new Set(services.map((name) => name.toLowerCase()));
  const unknown = namesIn(text, known).find((name) =>
    !known.has(name.toLowerCase()) && !containsName(basis, name.toLowerCase())
  );
  if (unknown !== undefined) {
    const shown = unknown.slice(0, 60).toWellFormed();
    return `A sentence names ${shown}, which is no service that was found, and not in what it cites`;
  }
  const pieces = evidence.filter(({ n }) => cited.includes(n));
  return accusationObjection(text, pieces) ?? measurementObjection(text, evidence) ??
    supportObjection(text, pieces, services);
}

/** Returns what looks like a name: text between backticks, ids, numbers, paths, files. */
function namesIn(text: string, known: ReadonlySet<string>): string[] {
  const quoted = [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!.trim());
  const words = text.split(/[\s`]+/)
    .map((word) => word.replace(/^[^\w/]+|(?:['’]s)?[^\w/%]*$/g, ""));
  return [...quoted, ...words.filter((word) => isName(word, known))];
}

/** Returns true if a word is shaped like a name, or like that of a known service: `shop-db` where there is `shop-web`. */
function isName(word: string, known: ReadonlySet<string>): boolean {
  if (NAME_SHAPES.some((shape) => shape.test(word))) return true;
  const parts = word.toLowerCase().split("-");
  if (parts.length === 1) return false;
  return [...known].some((name) => {
    const knownParts = name.split("-");
    return knownParts.length > 1 &&
      (knownParts[0] === parts[0] || knownParts.at(-1) === parts.at(-1));
  });
}

/** Returns true if a text has a name as a whole: not as a part of another name or number. */
function containsName(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const before = text.slice(Math.max(0, at - 2), at);
    const after = text.slice(at + name.length);
    if (!CONTINUES_BEFORE.test(before) && !CONTINUES_AFTER.test(after)) return true;
  }
  return false;
}
