import { type Evidence, met, missing, partly, plural } from "./_evidence.ts";
import { daysSince, receiptsOf } from "./facts.ts";

/** Evidence from the ledger. */
export const LEDGER_EVIDENCE = {
  tamper_evident_log: {
    about: "Every act is in a signed chain that is intact",
    find({ chain: { intact, breaks, total } }) {
      if (total === 0) return missing("There is no receipt yet");
      if (intact === null) return partly("The chain is being verified");
      return intact
        ? met(`${plural(total, "receipt")}, and the chain is intact`)
        : missing(`The chain is broken at ${plural(breaks, "position")}`);
    },
    receipts: ["platform_health_check", "tool_call", "api_call"],
    risk: {
      title: "What happened can't be proven",
      impact: "high",
      treatment: "Find out who changed the stored receipts; restore them from an export.",
    },
  },
  log_reviewed: {
    about: "The whole log is verified again and again",
    find(facts) {
      const days = daysSince(facts, facts.chain.scrubbed_at);
      if (days === Infinity) return missing("No pass over the whole log has ended yet");
      const summary = `The last whole pass ended ${
        days < 1 ? "within a day" : `${Math.floor(days)} days ago`
      }`;
      return days <= 7 ? met(summary) : partly(summary);
    },
    receipts: ["ledger_break"],
    risk: {
      title: "An altered record is found too late",
      impact: "medium",
      treatment: "Unpause the schedule of the scrub.",
    },
  },
  time_proven: {
    about: "Receipts are anchored where nobody can backdate them",
    find({ anchors: { confirmed_batches, receipts } }) {
      return confirmed_batches > 0
        ? met(`${plural(receipts, "receipt")} in Bitcoin blocks`)
        : missing("No batch of receipts is in a Bitcoin block");
    },
    receipts: ["anchor_confirmed"],
    risk: {
      title: "Nobody else confirms the time of an act",
      impact: "low",
      treatment: "Allow the connections to the calendars, and wait for six confirmations.",
    },
  },
  guarded_changes: {
    about: "Every change is checked against a policy before it is made",
    find(facts) {
      const { count } = receiptsOf(facts, "guardrail_verdict");
      if (!facts.engine) return missing("The guardrails don't answer, so that every repair waits");
      const summary = `Policy version ${facts.policy_version}, ${plural(count, "verdict")} sealed`;
      return count > 0 ? met(summary) : partly(summary);
    },
    receipts: ["guardrail_verdict", "governed_act"],
    risk: {
      title: "A harmful change is made unchecked",
      impact: "high",
      treatment: "Start the engine.",
    },
  },
  changes_recorded: {
    about:
      "Changes of configuration, runbooks and policy are sealed with the hashes before and after",
    find(facts) {
      const count = receiptsOf(facts, "config_change").count +
        receiptsOf(facts, "runbook_change").count;
      return count > 0
        ? met(`${plural(count, "change")} sealed`)
        : missing("No change was sealed yet");
    },
    receipts: ["config_change", "runbook_change"],
    risk: {
      title: "It is not known what was changed, and when",
      impact: "medium",
      treatment: "Start the worker and the engine, which seal their configuration.",
    },
  },
} as const satisfies Readonly<Record<string, Evidence>>;
