import { type Evidence, met, missing, partly, plural, share } from "./_evidence.ts";

/** Evidence about assets, keys, approvals and connections. */
export const ACCESS_EVIDENCE = {
  asset_inventory: {
    about: "Services are listed, each with an owner",
    find({ services: { known, owned } }) {
      if (known === 0) return missing("No service is listed");
      const summary = `${owned} of ${plural(known, "service")} have an owner`;
      return share(owned, known) >= 0.8 ? met(summary) : partly(summary);
    },
    receipts: ["config_change"],
    risk: {
      title: "Nobody answers for a service that fails",
      impact: "medium",
      treatment: "Name an owner for each service in the services file.",
    },
  },
  access_reviewed: {
    about: "Keys expire, and are used",
    find({ keys: { active, endless, stale } }) {
      if (active === 0) return missing("No key was issued");
      const summary =
        `${plural(active, "key")}, ${endless} of them without an expiry though of no admin, ` +
        `${stale} unused for 90 days`;
      return endless + stale === 0 ? met(summary) : partly(summary);
    },
    receipts: ["key_issued", "key_revoked"],
    risk: {
      title: "A forgotten key is used by somebody else",
      impact: "high",
      treatment: "Give keys an expiry, and revoke those that nobody has used for 90 days.",
    },
  },
  least_privilege: {
    about: "There are few admin keys, and auditors have keys that only read",
    find({ keys: { admins, auditors } }) {
      const summary = `${plural(admins, "admin key")}, ${plural(auditors, "audit key")}`;
      if (admins > 3) return missing(summary);
      return auditors > 0 ? met(summary) : partly(summary);
    },
    receipts: ["key_issued"],
    risk: {
      title: "Readers can also make changes",
      impact: "medium",
      treatment:
        "Issue keys of scope audit to those who only read, and keep at most three admin keys.",
    },
  },
  separate_approvers: {
    about: "Other people than those who ask may approve",
    find({ keys: { approvers } }) {
      if (approvers === 0) return missing("Nobody may approve");
      const summary = plural(approvers, "person may", "people may") +
        " approve, never their own requests";
      return approvers > 1 ? met(summary) : partly(summary);
    },
    receipts: ["approval"],
    risk: {
      title: "A dangerous repair waits for one person who is away, or for nobody",
      impact: "high",
      treatment: "Issue keys with may_approve to at least two people.",
    },
  },
  approvals_decided: {
    about: "Approvals are decided in time",
    find({ approvals: { decided, expired, pending } }) {
      if (decided + expired + pending === 0) return partly("No approval was ever requested");
      const summary = `${decided} decided, ${expired} expired, ${pending} waiting`;
      return share(decided, decided + expired) >= 0.8 ? met(summary) : partly(summary);
    },
    receipts: ["approval"],
    risk: {
      title: "Approvals expire unread, and faults last",
      impact: "medium",
      treatment: "Have approvals escalated to somebody who is available.",
    },
  },
  encrypted_transport: {
    about: "Nothing crosses a network unencrypted",
    find: ({ transport }) => ({
      loopback: met("The servers are reached from their own host only"),
      tls: met("The servers speak TLS"),
      proxy: met("A proxy terminates TLS, as the operator has declared"),
      plain: missing("The servers are reached unencrypted over a network"),
    }[transport]),
    receipts: ["platform_scan"],
    risk: {
      title: "Keys and incidents are read on the network",
      impact: "high",
      treatment: "Set SEALOOP_TLS_CERT and SEALOOP_TLS_KEY, or put a TLS proxy in front.",
    },
  },
} as const satisfies Readonly<Record<string, Evidence>>;
