import { daysSince, type Facts, receiptsOf } from "./facts.ts";

/** What a piece of evidence says: it is there, in part, not at all, or nothing is set up that could give it. */
export type EvidenceState = "met" | "partly" | "missing" | "not_configured";

/** What was found. */
export interface EvidenceResult {
  readonly state: EvidenceState;
  /** One sentence with the facts. */
  readonly because: string;
}

/** A piece of evidence: what it is, how it is found, and what is to be done without it. */
export interface Evidence {
  readonly about: string;
  find(facts: Facts): EvidenceResult;
  /** Categories of the receipts that prove it. */
  readonly receipts: readonly string[];
  /** What is at risk without it, how bad that is, and what mends it. */
  readonly risk: {
    readonly title: string;
    readonly impact: "low" | "medium" | "high";
    readonly treatment: string;
  };
}

const met = (because: string): EvidenceResult => ({ state: "met", because });
const partly = (because: string): EvidenceResult => ({ state: "partly", because });
const missing = (because: string): EvidenceResult => ({ state: "missing", because });
const many = (n: number, one: string, more = `${one}s`) => `${n} ${n === 1 ? one : more}`;
const share = (part: number, whole: number) => whole === 0 ? 0 : part / whole;

/** Everything that controls can ask for, by name. */
export const EVIDENCE = {
  asset_inventory: {
    about: "Services are listed, each with an owner",
    find({ services: { known, owned } }) {
      if (known === 0) return missing("No service is listed");
      const said = `${owned} of ${many(known, "service")} have an owner`;
      return share(owned, known) >= 0.8 ? met(said) : partly(said);
    },
    receipts: ["config_change"],
    risk: {
      title: "Nobody answers for a service that fails",
      impact: "medium",
      treatment: "Name an owner for each service in the services file.",
    },
  },
  access_reviewed: {
    about: "Keys end, and are in use",
    find({ keys: { active, endless, stale } }) {
      if (active === 0) return missing("No key was issued");
      const said =
        `${many(active, "key")}, ${endless} of them without an end though of no admin, ` +
        `${stale} unused for 90 days`;
      return endless + stale === 0 ? met(said) : partly(said);
    },
    receipts: ["key_issued", "key_revoked"],
    risk: {
      title: "A forgotten key is used by somebody else",
      impact: "high",
      treatment: "Give keys an expiry, and revoke those that nobody has used for 90 days.",
    },
  },
  least_privilege: {
    about: "Few keys are of an administrator, and auditors have keys that only read",
    find({ keys: { admins, auditors } }) {
      const said = `${many(admins, "admin key")}, ${many(auditors, "audit key")}`;
      if (admins > 3) return missing(said);
      return auditors > 0 ? met(said) : partly(said);
    },
    receipts: ["key_issued"],
    risk: {
      title: "Whoever only has to look can also change",
      impact: "medium",
      treatment:
        "Issue keys of scope audit to those who only read, and keep at most three of an admin.",
    },
  },
  separate_approvers: {
    about: "People who may approve exist besides those who ask",
    find({ keys: { approvers } }) {
      if (approvers === 0) return missing("Nobody may approve");
      const said = many(approvers, "person may", "people may") +
        " approve, never what they asked for";
      return approvers > 1 ? met(said) : partly(said);
    },
    receipts: ["approval"],
    risk: {
      title: "A dangerous repair waits for nobody, or for one person who is away",
      impact: "high",
      treatment: "Issue keys with may_approve to at least two people.",
    },
  },
  approvals_decided: {
    about: "What waits for people is decided in time",
    find({ approvals: { decided, expired, pending } }) {
      if (decided + expired + pending === 0) return partly("Nothing was ever asked of people");
      const said = `${decided} decided, ${expired} expired, ${pending} waiting`;
      return share(decided, decided + expired) >= 0.8 ? met(said) : partly(said);
    },
    receipts: ["approval"],
    risk: {
      title: "Approvals expire unread, and faults last",
      impact: "medium",
      treatment: "Have approvals escalated to somebody who is there.",
    },
  },
  encrypted_transport: {
    about: "Nothing crosses a network in the clear",
    find: ({ transport }) => ({
      loopback: met("The servers are reached from their own host alone"),
      tls: met("The servers speak TLS"),
      proxy: met("A proxy in front ends TLS, as the operator has declared"),
      plain: missing("The servers are reached in the clear"),
    }[transport]),
    receipts: ["platform_scan"],
    risk: {
      title: "Keys and incidents are read on the way",
      impact: "high",
      treatment: "Set SEALOOP_TLS_CERT and SEALOOP_TLS_KEY, or put a TLS proxy in front.",
    },
  },
  tamper_evident_log: {
    about: "Every act is in a signed chain that holds",
    find({ chain: { intact, breaks, total } }) {
      if (total === 0) return missing("There is no receipt yet");
      if (intact === null) return partly("The chain is being verified");
      return intact
        ? met(`${many(total, "receipt")}, and the chain holds`)
        : missing(`The chain is broken at ${many(breaks, "position")}`);
    },
    receipts: ["platform_health_check", "tool_call", "api_call"],
    risk: {
      title: "What happened can't be shown",
      impact: "high",
      treatment: "Find out who changed the stored receipts; restore them from an export.",
    },
  },
  log_reviewed: {
    about: "The whole log is verified again and again",
    find(facts) {
      const days = daysSince(facts, facts.chain.scrubbed_at);
      if (days === Infinity) return missing("No pass over the whole log has ended yet");
      const said = `The last whole pass ended ${
        days < 1 ? "within a day" : `${Math.floor(days)} days ago`
      }`;
      return days <= 7 ? met(said) : partly(said);
    },
    receipts: ["ledger_break"],
    risk: {
      title: "An altered record is found too late",
      impact: "medium",
      treatment: "Let the schedule of the scrub run.",
    },
  },
  time_proven: {
    about: "Receipts are anchored where nobody can date them back",
    find({ anchors: { confirmed_batches, receipts } }) {
      return confirmed_batches > 0
        ? met(`${many(receipts, "receipt")} in Bitcoin blocks`)
        : missing("No batch of receipts is in a Bitcoin block");
    },
    receipts: ["anchor_confirmed"],
    risk: {
      title: "The time of an act rests on our own word",
      impact: "low",
      treatment: "Allow the connections to the calendars, and wait for six confirmations.",
    },
  },
  monitoring: {
    about: "Detectors look, and services are probed",
    find({ detectors: { known, fresh }, services: { watched, looked_at } }) {
      if (known === 0) return missing("No detector has ever run");
      const said = `${fresh} of ${many(known, "detector")} ran within the hour, ` +
        `${looked_at} of ${many(watched, "watched service")} probed`;
      return fresh === known && looked_at === watched
        ? met(said)
        : fresh === 0
        ? missing(said)
        : partly(said);
    },
    receipts: ["platform_scan", "self_heal", "platform_health_check"],
    risk: {
      title: "A fault or an attack isn't seen",
      impact: "high",
      treatment:
        "See why detectors don't run (itsm_get_detection_sources), and list health checks.",
    },
  },
  incidents_handled: {
    about: "Incidents are resolved, with proof, and none stays open",
    find({ tickets: { overdue, resolved, with_receipt } }) {
      const said =
        `${resolved} resolved in 90 days, ${with_receipt} with a receipt, ${overdue} overdue`;
      if (overdue > 0) {
        return share(overdue, overdue + resolved) > 0.2 ? missing(said) : partly(said);
      }
      return resolved > 0 ? met(said) : partly("No incident was resolved in 90 days");
    },
    receipts: ["self_heal", "escalation", "ticket_closed"],
    risk: {
      title: "A grave incident is left open",
      impact: "high",
      treatment: "Look at the open incidents (itsm_list_open_incidents), the oldest first.",
    },
  },
  recovery_works: {
    about: "Repairs work, and how each ended is known",
    find({ repairs: { done, not_done, unknown } }) {
      const all = done + not_done + unknown;
      if (all === 0) return partly("No repair was made in 90 days");
      const said = `${done} of ${many(all, "repair")} done, the end of ${unknown} unknown`;
      return share(done, all) >= 0.9 && unknown === 0 ? met(said) : partly(said);
    },
    receipts: ["self_heal", "repair_intended"],
    risk: {
      title: "A service does not come back",
      impact: "medium",
      treatment: "Look at the history of repairs, and mend runbooks that fail.",
    },
  },
  guarded_changes: {
    about: "Every change is held against a policy before it is made",
    find(facts) {
      const { count } = receiptsOf(facts, "guardrail_verdict");
      if (!facts.engine) return missing("The guardrails don't answer, so that nothing is allowed");
      const said = `Policy version ${facts.policy_version}, ${many(count, "verdict")} sealed`;
      return count > 0 ? met(said) : partly(said);
    },
    receipts: ["guardrail_verdict", "governed_act"],
    risk: {
      title: "A harmful change is made unchecked",
      impact: "high",
      treatment: "Bring the engine back.",
    },
  },
  changes_recorded: {
    about:
      "Changes of configuration, runbooks and policy are sealed with the hashes before and after",
    find(facts) {
      const count = receiptsOf(facts, "config_change").count +
        receiptsOf(facts, "runbook_change").count;
      return count > 0
        ? met(`${many(count, "change")} sealed`)
        : missing("No change was sealed yet");
    },
    receipts: ["config_change", "runbook_change"],
    risk: {
      title: "Nobody can say what was changed, and when",
      impact: "medium",
      treatment: "Start the worker and the engine, which seal what they run by.",
    },
  },
  lessons_learnt: {
    about: "What was learnt from incidents is put to use",
    find: ({ learnt }) =>
      learnt > 0
        ? met(`${many(learnt, "past incident")} in the knowledge base`)
        : missing("Nothing was learnt from an incident yet"),
    receipts: ["learning_receipt"],
    risk: {
      title: "The same fault is puzzled over again",
      impact: "low",
      treatment:
        "Close tickets with a note that says what helped, and look through the learning queue.",
    },
  },
  vulnerability_scans: {
    about: "The platform and its host are scanned for weaknesses, and grave ones are mended",
    find(facts) {
      const [newest] = receiptsOf(facts, "platform_scan").newest;
      const days = daysSince(facts, newest?.timestamp);
      if (days === Infinity) return missing("No scan was ever made");
      const { open, grave } = facts.weaknesses;
      const said = `The last scan was ${
        days < 1 ? "within a day" : `${Math.floor(days)} days ago`
      }, ${many(open, "weakness is", "weaknesses are")} open, ${grave} of them grave`;
      return days <= 30 && grave === 0 ? met(said) : partly(said);
    },
    receipts: ["platform_scan"],
    risk: {
      title: "A known weakness stays open",
      impact: "high",
      treatment:
        "Run a scan (trigger_sie_scan), and approve what it finds, the gravest first (get_sie_queue).",
    },
  },
  backups: {
    about: "Copies are made, and seen to be",
    find({ services: { backups, backups_up } }) {
      if (backups === 0) {
        return { state: "not_configured", because: "No service of type backup is listed" };
      }
      const said = `${backups_up} of ${many(backups, "backup service")} seen in order within a day`;
      return backups_up === backups ? met(said) : backups_up > 0 ? partly(said) : missing(said);
    },
    receipts: ["platform_scan"],
    risk: {
      title: "What is lost can't be brought back",
      impact: "high",
      treatment: "List what makes backups as services of type backup, with a health check.",
    },
  },
  people: {
    about: "What only people and buildings can give: training, contracts, locks, policies on paper",
    find: () => ({
      state: "not_configured",
      because: "The platform can't see it; it has to be shown in another way",
    }),
    receipts: [],
    risk: {
      title: "What the platform can't see is taken for done",
      impact: "low",
      treatment: "Keep the evidence of it where auditors are shown the rest.",
    },
  },
} as const satisfies Readonly<Record<string, Evidence>>;

/** Name of a piece of evidence. */
export type EvidenceName = keyof typeof EVIDENCE;

/** Categories of receipts that any evidence is proven by. */
export const EVIDENCE_RECEIPT_CATEGORIES: readonly string[] = [
  ...new Set(Object.values(EVIDENCE).flatMap(({ receipts }) => receipts)),
];
