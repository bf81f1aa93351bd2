/** Sentences of the messages about tickets, each with an event of which people are told so, and one of which they are not. */
import type { Pair } from "../../../_sentences.ts";

/** An event of a ticket that people are told of, with what the ticket's last diagnosis and recurrence had. */
export interface ToldTicket {
  readonly kind: "opened" | "acknowledged" | "taken" | "handed_back" | "escalated";
  readonly reason?: string;
  readonly passedOver?: boolean;
  readonly recurs?: boolean;
  readonly printed?: boolean;
}

const escalated = (reason = "", more: Partial<ToldTicket> = {}): ToldTicket => ({
  kind: "escalated",
  reason,
  ...more,
});

/** Why people are called, by the reason of the escalation, with another reason, for which that is not said. */
const REASONS = [
  ["no_runbook", "No runbook fits what was found", "not_healed"],
  [
    "comes_back",
    "It was healed again and again within the hour, and comes back: its cause is another one, and a problem ticket is open",
    "not_healed",
  ],
  ["flapping", "It goes up and down, and is up at the moment", "not_healed"],
  ["refused_by_guardrails", "The guardrails refused the repair", "guardrails_away"],
  ["guardrails_away", "The guardrails could not be asked", "refused_by_guardrails"],
  ["approval_denied", "A person denied the repair", "approval_expired"],
  ["approval_expired", "Nobody decided about the repair in time", "approval_denied"],
  ["not_permitted", "The repair was not permitted", "approval_denied"],
  ["approval_of_another_action", "The approval was for another action", "approval_denied"],
  ["approval_ended", "The question to people was ended from outside", "approval_expired"],
  ["taken", "A person has taken it", "approval_denied"],
  ["stopped", "Repairs have been stopped for too long", "not_done"],
  ["unknown_effect", "It is not known what a repair did", "not_healed"],
  ["not_healed", "No repair helped", "not_done"],
  ["not_done", "No repair could be carried out", "not_healed"],
  ["not_proven", "Those who saw the fault can't tell whether it is over", "not_healed"],
  [
    "outdated",
    "What the repair is made from has changed again and again before it could be done",
    "not_done",
  ],
  ["cancelled", "Its run was cancelled", "stopped"],
  [
    "place_away",
    "The place that it is at has no worker, and nothing was done elsewhere",
    "not_healed",
  ],
  ["NotFound", "Its run could not go on: …", "cancelled"],
] as const;

/** Pairs about messages. */
export const MESSAGES: readonly Pair<ToldTicket>[] = [
  ...REASONS.map(([reason, says, other]): Pair<ToldTicket> => [
    says,
    escalated(reason),
    escalated(other),
  ]),
  ["handed back", { kind: "handed_back" }, { kind: "taken" }],
  [
    "… The problem is …",
    escalated("comes_back", { recurs: true }),
    escalated("comes_back"),
  ],
  [
    "The last repair printed at its end: “…”.",
    escalated("not_healed", { printed: true }),
    escalated("not_healed"),
  ],
  [
    "These runbooks were looked at, and are not used:…",
    escalated("no_runbook", { passedOver: true }),
    escalated("no_runbook"),
  ],
  [
    "The platform asks them again by itself until they answer, and then goes on; a person may act before.",
    escalated("guardrails_away"),
    escalated("refused_by_guardrails"),
  ],
  [
    "A person has to act now. Where runbooks, the service's entry or the policy are changed, the next sweep tries again; … does so at once.",
    escalated("no_runbook"),
    escalated("unknown_effect"),
  ],
  [
    "A person has to act now. When something was changed, a loop tries again: …",
    escalated("unknown_effect"),
    escalated("no_runbook"),
  ],
];
