/** Kinds of messages of the feed, each with what it tells. */
export const MESSAGE_KINDS = {
  "incident.opened": "An incident was opened",
  "incident.escalated": "An incident was left to people",
  "incident.closed": "An incident was resolved",
  "incident.acknowledged": "A person has acknowledged an incident",
  "incident.taken": "A person has taken an incident",
  "incident.handed_back": "A person has handed an incident back to the platform",
  "approval.requested": "An approval waits for people",
  "approval.decided": "An approval was approved or denied, or has expired",
  "approval.expiring": "An approval expires soon, and nobody has decided",
  "ledger.break": "The verification of the ledger found a break",
  "mail.sent": "An e-mail was sent",
  "mail.not_sent": "An e-mail was provably not sent",
  "mail.unknown": "Nobody can tell whether an e-mail was sent",
  "mail.received": "An e-mail was received",
  "task.due": "A task is due",
  "event.booked": "An event was booked in the calendar",
  "event.not_booked": "An occurrence of a series was left out, as its time was taken",
  "event.cancelled": "An event of the calendar was cancelled",
  "agent.answered": "An agent has answered a question",
  "device.offline": "Devices have sent no heartbeat for three times",
  "device.online": "A device that was offline is online again",
  "partner.applied": "Somebody has applied as a partner",
  "lead.captured": "Somebody has written through the form of a website",
  "command.not_done": "A device did not run a command, or the command failed",
  "command.unknown": "Nobody can tell whether a command on a device did its work",
  "act.unknown": "Nobody can tell whether an act in a system of the operator's was done",
  "article.unknown": "Nobody can tell whether an article was deployed",
  "settings.refused": "A settings file was refused, as it is wrong",
  "settings.taken": "A new version of a settings file is in force",
  said: "People's own words",
} as const;

/** Kind of a message. */
export type MessageKind = keyof typeof MESSAGE_KINDS;

/** Kinds after which a person has to do something. */
const ASKING: ReadonlySet<MessageKind> = new Set([
  "incident.opened",
  "incident.escalated",
  "approval.requested",
  "approval.expiring",
  "ledger.break",
  "mail.unknown",
  "command.unknown",
  "act.unknown",
  "article.unknown",
  "task.due",
  "settings.refused",
]);

/** Returns true where a person has to do something. */
export function asksPeople(kind: MessageKind): boolean {
  return ASKING.has(kind);
}

/** Channels over which people are told. `feed` is the feed itself. */
export const CHANNELS = ["feed", "email", "slack", "teams", "matrix", "ntfy", "webhook"] as const;

/** A channel over which people are told. */
export type Channel = typeof CHANNELS[number];

/** Ids of what a message is about. */
export interface MessageRefs {
  readonly ticket_id?: string;
  readonly approval_id?: string;
  readonly receipt_id?: string;
  readonly [id: `${string}_id`]: string | undefined;
}
