/** Sentences of lookups, each with one that says so, and one that says otherwise. */
import type { Pair } from "../../_sentences.ts";
import { type Platforms, REPAIRED, ticketId } from "./_platforms.ts";

/** Returns what agents say of what a platform has. */
export type Asked = (platforms: Platforms) => Promise<string>;

const look = (tool: string, of?: string): Asked => ({ full }) => full.lookUp(tool, of);
const lookEmpty = (tool: string, of?: string): Asked => ({ empty }) => empty.lookUp(tool, of);
const repaired = (name: typeof REPAIRED[number]) => look("repairs", name);
const lookCalm = (tool: string, of?: string): Asked => ({ calm }) => calm.lookUp(tool, of);
const [a, b, c, d] = ["a", "b", "c", "d"].map((letter) => look("ticket", ticketId(letter)));

/** Pairs about the platform. */
const PLATFORM: readonly Pair<Asked>[] = [
  [
    "Receipt … is at position … of the ledger and …",
    look("receipt", "receipt-000000"),
    lookEmpty("receipt", "receipt-000000"),
  ],
  ["does not verify: …", look("receipt", "receipt-000001"), look("receipt", "receipt-000000")],
  ["the scrub knows of no break.", lookEmpty("ledger"), look("ledger")],
  ["the scrub knows of … breaks, the first at position …", look("ledger"), lookEmpty("ledger")],
  ["none are known", lookEmpty("platform"), look("platform")],
  ["No approval waits for people.", lookEmpty("approvals"), look("approvals")],
  ["… or more", lookCalm("approvals"), look("approvals")],
  ["Approvals that wait for people: …", look("approvals"), lookEmpty("approvals")],
  ["Approval … on … was asked for at …, and waits.", look("approvals"), lookEmpty("approvals")],
];

/** Pairs about services. */
const SERVICES: readonly Pair<Asked>[] = [
  ["Open finding … on …, seen … times since …", look("service", "down"), look("service", "up")],
  ["answers its health check just now (… ms)", look("service", "up"), look("service", "down")],
  ["fails its health check just now: …", look("service", "down"), look("service", "up")],
  ["has no health check", look("service", "unchecked"), look("service", "up")],
  ["was not looked at yet", look("service", "elsewhere"), look("service", "elsewhere-down")],
  [
    "was … when its place looked at it last",
    look("service", "elsewhere-down"),
    look("service", "elsewhere"),
  ],
  ["Nothing that is known needs …", look("topology", "top"), look("topology", "base")],
  ["If … fails, this may be affected: …", look("topology", "base"), look("topology", "top")],
  ["… needs …", look("topology", "above"), look("topology", "base")],
  [
    "Of what … needs, last seen down: …",
    look("topology", "above"),
    look("topology", "needs-hub-1"),
  ],
  ["… and … more", look("topology", "hub"), look("topology", "base")],
];

/** Pairs about repairs. */
const REPAIRS: readonly Pair<Asked>[] = [
  ["No repair… is on record…", lookEmpty("repairs"), look("repairs")],
  [", besides those of drills", lookEmpty("repairs"), lookEmpty("repairs", "up")],
  ["Repairs… on record: … (…).", look("repairs"), lookEmpty("repairs")],
  ["Repair … of … on …: …", look("repairs"), lookEmpty("repairs")],
  ["without a runbook", repaired("healed"), repaired("unhealed")],
  ["under way", repaired("under-way"), repaired("undone")],
  ["not carried out, or not all of it", repaired("undone"), repaired("untold")],
  ["nobody can tell what it did", repaired("untold"), repaired("undone")],
  ["carried out", repaired("healed"), repaired("untold")],
  ["noted or waited, and changed nothing", repaired("waited"), repaired("healed")],
  ["…, not checked whether it helped", repaired("unchecked-repair"), repaired("healed")],
  ["…, the check … afterwards", repaired("healed"), repaired("unchecked-repair")],
  ["still failed", repaired("unhealed"), repaired("healed")],
];

/** Pairs about tickets. */
const TICKETS: readonly Pair<Asked>[] = [
  ["Tickets on …", look("tickets_of_service", "ticketed-a"), look("open_tickets")],
  ["Open tickets", look("open_tickets"), lookEmpty("open_tickets")],
  ["No ticket is open. The newest one:", lookCalm("open_tickets"), lookEmpty("open_tickets")],
  [", … of them open", look("tickets_of_service", "ticketed-c"), look("open_tickets")],
  ["with people", c!, b!],
  ["; its receipt is …", d!, b!],
  ["No ticket is open.", lookEmpty("open_tickets"), look("open_tickets")],
  ["nothing yet", a!, b!],
  ["The cause of … is not known; …", b!, c!],
  ["The diagnosis of … names the cause …; …", c!, b!],
  ["its symptom is …", b!, a!],
  ["What happened to …: …", a!, look("tickets_of_service", "ticketed-a")],
];

/** Pairs about what lookups say. */
export const LOOKUPS: readonly Pair<Asked>[] = [...PLATFORM, ...SERVICES, ...REPAIRS, ...TICKETS];
