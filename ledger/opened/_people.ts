import { COUNT, listOf, TEXT } from "./_shapes.ts";
import { asObject, type CheckedReceipt, type Findings } from "./_receipt.ts";

/** A person, as the evidence of a decision names them. */
export interface Voter {
  readonly key_id: string;
  readonly principal: string;
}

/** Returns the person whom the evidence of a decision names; undefined: it is not opened, or names nobody. */
export function voterOf({ opened }: Pick<CheckedReceipt, "opened">): Voter | undefined {
  const { key_id, principal } = asObject(opened.get("voter"));
  return typeof key_id === "string" && typeof principal === "string"
    ? { key_id, principal }
    : undefined;
}

/** Returns true where two names denote one principal, whatever their case, width and spaces are. */
export const isSameName = (a: string, b: string): boolean => fold(a) === fold(b);

const fold = (name: string) => name.normalize("NFKC").trim().replace(/ +/g, " ").toLowerCase();

/** Checks who has decided about an approval: as many different people as it needs, and not who asked. */
export function checkPeople(id: string, receipts: readonly CheckedReceipt[]): Findings {
  const findings: Findings = { says: [], faults: [], absent: [] };
  const decisions = receipts.filter(({ action }) => action === "approval.approved");
  const voters = new Map<string, Voter>();
  for (const decision of decisions) {
    const voter = voterOf(decision);
    if (!voter) continue;
    const other = voters.get(decision.actor);
    if (other && !isSameName(other.principal, voter.principal)) {
      findings.faults.push(`${id}: ${decision.actor} is two people`);
    }
    voters.set(decision.actor, voter);
  }
  const names = [...voters.values()].map(({ principal }) => principal);
  if (names.some((name, n) => names.slice(0, n).some((one) => isSameName(one, name)))) {
    findings.faults.push(`${id}: one person has decided under two names`);
  }
  const last = decisions.at(-1);
  if (last) checkCount(id, last, voters, findings);
  if (voters.size > 0) checkRequester(id, receipts, [...voters.values()], findings);
  return findings;
}

function checkCount(
  id: string,
  { details, outcome }: CheckedReceipt,
  voters: ReadonlyMap<string, Voter>,
  { says, faults }: Findings,
): void {
  const needed = COUNT(details.needed) ? details.needed as number : 0;
  const named = listOf(TEXT)(details.approvers) ? details.approvers as string[] : [];
  const count = new Set(named).size;
  if (outcome === "approved" && (count < needed || count < named.length)) {
    faults.push(`${id}: it says that it is approved, by ${count} of ${needed} people`);
    return;
  }
  const opened = named.filter((name) => voters.has(name)).length;
  says.push(`${id}: ${count} of ${needed} people have approved; ${opened} of them are opened`);
}

function checkRequester(
  id: string,
  receipts: readonly CheckedReceipt[],
  voters: readonly Voter[],
  { says, faults }: Findings,
): void {
  const asked = receipts.find(({ action }) => action === "approval.requested");
  const name = asked?.opened.get("requested_by");
  if (!asked || typeof name !== "string") {
    says.push(`${id}: who asked is not opened, so whether one of them did can't be told`);
    return;
  }
  const isAsker = ({ key_id, principal }: Voter) =>
    asked.actor === `key:${key_id}` || isSameName(principal, name);
  if (voters.some(isAsker)) faults.push(`${id}: who asked for it has approved it`);
  else says.push(`${id}: ${name} asked, who is none of those who are opened`);
}
