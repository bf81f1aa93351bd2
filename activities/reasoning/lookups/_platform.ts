import { joinTexts, PLATFORM_SOURCE, say } from "../../../contract/domain/mod.ts";
import { asProblem } from "../../../contract/mod.ts";
import { findReceipt, getHead, verifyStored } from "../../../ledger/mod.ts";
import { listApprovals } from "../../../store/approvals/mod.ts";
import { countOpenBreaks, getPlatformCounts } from "../../../store/platform/mod.ts";
import { atLeast, type LookupTool, NOTHING } from "./_lookup.ts";

const MAX_APPROVALS = 20;

/** Looks up a receipt by its id or hash, and verifies it. */
export const receipt: LookupTool = async ({ store }, id) => {
  const stored = await findReceipt(store, id).catch((error) => {
    if (asProblem(error).rule.status < 500) return undefined;
    throw error;
  });
  if (!stored) return NOTHING;
  const { verified, checks } = await verifyStored(store, stored);
  const failed = Object.entries(checks)
    .filter(([, result]) => result === "fail").map(([name]) => name);
  return {
    says: [
      say`Receipt ${stored.id} is at position ${stored.position} of the ledger and ${
        verified ? say`verifies.` : say`does not verify: ${failed.join(", ")}.`
      }`,
    ],
    sources: [{
      id: stored.id,
      kind: "receipt",
      title: `Receipt at position ${stored.position}`,
      sha256: stored.hash,
    }],
    data: { position: stored.position, verified },
  };
};

/** Looks up the size of the ledger, and whether the scrub has found breaks. */
export const ledger: LookupTool = async ({ store, db }) => {
  const [{ size }, { breaks, first }] = await Promise.all([getHead(store), countOpenBreaks(db)]);
  const scrub = breaks === 0
    ? say`the scrub knows of no break.`
    : say`the scrub knows of ${breaks} breaks, the first at position ${first}.`;
  return {
    says: [say`The ledger has ${size} receipts; ${scrub}`],
    sources: [PLATFORM_SOURCE],
    data: { receipts: size, breaks },
  };
};

/** Looks up the state of the whole platform: services, tickets, approvals. */
export const platform: LookupTool = async ({ db }) => {
  const { tickets, services, pending_approvals } = await getPlatformCounts(db);
  const health = joinTexts(
    Object.entries(services).map(([status, n]) => say`${n} ${status}`),
    ", ",
  );
  return {
    says: [
      say`Services, as last seen: ${health.length > 0 ? health : say`none are known`}.`,
      say`Tickets: ${tickets.open} open (${tickets.escalated} with people), ${tickets.resolved} resolved.`,
      say`${pending_approvals} approvals wait for people.`,
    ],
    sources: [PLATFORM_SOURCE],
    data: { tickets, services, pending_approvals },
  };
};

/** Looks up the approvals that wait for people. */
export const approvals: LookupTool = async ({ db }) => {
  const pending = await listApprovals(db, { status: "pending", limit: MAX_APPROVALS });
  const data = { pending: pending.length };
  if (pending.length === 0) {
    return { says: [say`No approval waits for people.`], sources: [PLATFORM_SOURCE], data };
  }
  return {
    says: [
      say`Approvals that wait for people: ${atLeast(pending.length, MAX_APPROVALS)}.`,
      ...pending.map(({ id, subject, askedAt }) =>
        say`Approval ${id} on ${subject} was asked for at ${askedAt}, and waits.`
      ),
    ],
    sources: [
      PLATFORM_SOURCE,
      ...pending.map(({ id }) => ({ id, kind: "approval" as const, title: `Approval ${id}` })),
    ],
    data,
  };
};

/** Says that the platform does not know what a question asks for: it keeps no record of that. */
export const beyond: LookupTool = (_, subject) =>
  Promise.resolve({
    says: [
      say`The platform keeps no record of ${subject}, so it cannot say: it knows services and their checks, tickets, repairs, approvals and receipts.`,
    ],
    sources: [PLATFORM_SOURCE],
    data: {},
  });
