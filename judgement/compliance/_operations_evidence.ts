import { type Evidence, met, missing, partly, plural, share } from "./_evidence.ts";
import { daysSince, receiptsOf } from "./facts.ts";

/** Evidence from running services and repairing them. */
export const OPERATIONS_EVIDENCE = {
  monitoring: {
    about: "Detectors run, and services are probed",
    find({ detectors: { known, fresh }, services: { watched, looked_at } }) {
      if (known === 0) return missing("No detector has ever run");
      const summary = `${fresh} of ${plural(known, "detector")} ran within the hour, ` +
        `${looked_at} of ${plural(watched, "watched service")} probed`;
      return fresh === known && looked_at === watched
        ? met(summary)
        : fresh === 0
        ? missing(summary)
        : partly(summary);
    },
    receipts: ["platform_scan", "self_heal", "platform_health_check"],
    risk: {
      title: "A fault or an attack isn't noticed",
      impact: "high",
      treatment:
        "See why detectors don't run (itsm_get_detection_sources), and list health checks.",
    },
  },
  incidents_handled: {
    about: "Incidents are resolved, with proof, and none stays open too long",
    find({ tickets: { overdue, resolved, with_receipt } }) {
      const summary =
        `${resolved} resolved in 90 days, ${with_receipt} with a receipt, ${overdue} overdue`;
      if (overdue > 0) {
        return share(overdue, overdue + resolved) > 0.2 ? missing(summary) : partly(summary);
      }
      return resolved > 0 ? met(summary) : partly("No incident was resolved in 90 days");
    },
    receipts: ["self_heal", "escalation", "ticket_closed"],
    risk: {
      title: "A severe incident is left open",
      impact: "high",
      treatment: "Look at the open incidents (itsm_list_open_incidents), the oldest first.",
    },
  },
  recovery_works: {
    about: "Repairs work, and the outcome of each is known",
    find({ repairs: { done, not_done, unknown } }) {
      const all = done + not_done + unknown;
      if (all === 0) return partly("No repair was made in 90 days");
      const summary = `${done} of ${
        plural(all, "repair")
      } done, ${unknown} with an unknown outcome`;
      return share(done, all) >= 0.9 && unknown === 0 ? met(summary) : partly(summary);
    },
    receipts: ["self_heal", "repair_intended"],
    risk: {
      title: "A service is not restored",
      impact: "medium",
      treatment: "Look at the history of repairs, and fix runbooks that fail.",
    },
  },
  lessons_learnt: {
    about: "Lessons of incidents are used",
    find: ({ learnt }) =>
      learnt > 0
        ? met(`${plural(learnt, "past incident")} in the knowledge base`)
        : missing("No incident was learnt from yet"),
    receipts: ["learning_receipt"],
    risk: {
      title: "The same fault is investigated again",
      impact: "low",
      treatment: "Close tickets with a note about what helped, and review the learning queue.",
    },
  },
  vulnerability_scans: {
    about: "The platform and its host are scanned for weaknesses, and severe ones are fixed",
    find(facts) {
      const [newest] = receiptsOf(facts, "platform_scan").newest;
      const days = daysSince(facts, newest?.timestamp);
      if (days === Infinity) return missing("No scan was ever made");
      const { open, grave } = facts.weaknesses;
      const summary = `The last scan was ${
        days < 1 ? "within a day" : `${Math.floor(days)} days ago`
      }, ${plural(open, "weakness is", "weaknesses are")} open, ${grave} of them severe`;
      return days <= 30 && grave === 0 ? met(summary) : partly(summary);
    },
    receipts: ["platform_scan"],
    risk: {
      title: "A known weakness stays open",
      impact: "high",
      treatment:
        "Run a scan (trigger_sie_scan), and decide about its findings, the most severe first (get_sie_queue).",
    },
  },
  backups: {
    about: "Backups are made, and checked",
    find({ services: { backups, backups_up } }) {
      if (backups === 0) {
        return { state: "not_configured", because: "No service of type backup is listed" };
      }
      const summary = `${backups_up} of ${plural(backups, "backup service")} healthy within a day`;
      return backups_up === backups
        ? met(summary)
        : backups_up > 0
        ? partly(summary)
        : missing(summary);
    },
    receipts: ["platform_scan"],
    risk: {
      title: "Lost data can't be restored",
      impact: "high",
      treatment:
        "List the programs that make backups as services of type backup, with a health check.",
    },
  },
  people: {
    about: "Evidence outside of the platform: training, contracts, locks, policies on paper",
    find: () => ({
      state: "not_configured",
      because: "The platform can't check it; it has to be shown in another way",
    }),
    receipts: [],
    risk: {
      title: "Controls that the platform can't check are assumed to be met",
      impact: "low",
      treatment: "Store their evidence where auditors get the rest.",
    },
  },
} as const satisfies Readonly<Record<string, Evidence>>;
