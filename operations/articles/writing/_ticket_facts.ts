import type { Runbook } from "../../../judgement/runbooks/mod.ts";
import type { Ticket, TimelineEvent } from "../../../store/incidents/mod.ts";
import type { KnowledgePassage } from "./_passage.ts";
import type { Scrubber } from "./private_names.ts";

/** Sources of the article about a ticket. */
export interface TicketFacts {
  readonly ticket: Ticket;
  /** Oldest first. */
  readonly events: readonly TimelineEvent[];
  readonly runbooks: readonly Runbook[];
  /** A shipped article about the same fault. */
  readonly passage: KnowledgePassage | undefined;
  readonly scrubber: Scrubber;
}
