import {
  openFactBook,
  openScrubber,
  type TicketFacts,
  writeTicketArticle,
} from "../../../../operations/articles/writing/mod.ts";

/** Time at which each ticket is opened. */
export const AT = "2026-11-23T17:00:00.000Z";
const SCRUBBER = openScrubber({ own: "shop", services: [], hosts: [], people: [], others: [] });

type Data = Readonly<{ [name: string]: unknown }>;
type Event = Readonly<{ kind: string; at?: string; data?: Data }>;

/** A record of a ticket that was closed with a note, and what it has besides. */
export type TicketRecord = Readonly<{
  ticket?: Data;
  events?: readonly Event[];
  /** Fields of its runbook. */
  runbook?: Data;
  /** Text of the article of the knowledge base about it. */
  advice?: string;
}>;

const RUNBOOK = {
  runbook: "restart",
  title: "Restart it",
  about: "It is started again.",
  version: "1.0.0",
  origin: "shipped",
  steps: [{ step: "restart", does: "Restarts it.", never: [] }],
};
const OTHER = { ...RUNBOOK, runbook: "clean", title: "Clean it" };
const THIRD = { ...RUNBOOK, runbook: "move", title: "Move it" };

/** Returns the title, the description and the text of the article about a record. */
export function writeArticle({ ticket, events = [], runbook, advice }: TicketRecord): string {
  const facts = {
    ticket: {
      ticket_id: "INC-000000000001",
      title: "shop fails",
      description: "",
      severity: "high",
      category: null,
      service: "shop",
      outcome: "resolved",
      resolution: null,
      receipt_id: null,
      opened_at: AT,
      resolved_at: "2026-11-23T17:20:00.000Z",
      ...ticket,
    },
    events: events.map((event) => ({ at: AT, data: {}, ...event })),
    runbooks: [{ ...RUNBOOK, ...runbook }, OTHER, THIRD],
    passage: advice === undefined
      ? undefined
      : { id: "a", kind: "article", category: "storage", title: "A disk is full", text: advice },
    scrubber: SCRUBBER,
  } as unknown as TicketFacts;
  const { title, description, sections, receipts } = writeTicketArticle(facts, openFactBook());
  return [
    title,
    description,
    ...sections.flatMap(({ heading, blocks }) => [
      heading ?? "",
      ...blocks.flatMap(({ sentences }) => sentences.map(({ text }) => text)),
    ]),
    ...receipts.map(({ id, what }) => `${id} ${what}`),
  ].join("\n");
}

/** Returns an event. */
export const event = (kind: string, data: Data = {}): Event => ({ kind, data });
/** Returns the event of a fault that a check found. */
export const detected = (code = "refused", check = "http"): Event =>
  event("detected", { code, check });
/** Returns the event of a repair that was carried out. */
export const tried = (data: Data = {}): Event =>
  event("remediated", { runbook: "restart", action_id: "a", state: "done", steps: [], ...data });
/** Returns the event of a verdict of the guardrails. */
export const verdict = (decision: string, passed = true): Event =>
  event(decision === "allow" ? "permitted" : "approval_needed", {
    decision,
    action_id: "a",
    rails: [{ rail: "input_safety", passed, reasons: passed ? [] : ["It orders somebody"] }],
  });
/** A check that passed. */
export const PASSED = event("verified", { code: "ok" });
/** A check that failed. */
export const FAILED = event("verification_failed", { code: "timeout" });
/** A check that could not tell. */
export const BLIND = event("verification_failed", { code: "no_check" });
/** Fields of a ticket that the platform closed. */
export const SEALED = { outcome: "sealed" };
