import { asksPeople, type Channel } from "../../contract/domain/mod.ts";
import { matchesGlob } from "../files/mod.ts";
import type { ChannelEntry, CommsRule, CommsSection } from "./comms_file.ts";
import { endOfQuiet } from "./quiet_hours.ts";
import type { Notice } from "./_requests.ts";

/** A delivery of a message over one channel, which is tried where those before it in the same order have failed. */
export interface PlannedDelivery {
  /** Name of the rule. */
  readonly rule: string;
  /** Number of the order: the channels of a rule, or those of its escalation. From 1. */
  readonly order: number;
  /** Name of the channel. */
  readonly channel: string;
  readonly kind: Channel;
  /** Time before which nobody is told; null: at once. */
  readonly notBefore: Date | null;
  /** Minutes after which it is told where nobody has acted; null: it is no escalation. */
  readonly escalatesAfterMinutes: number | null;
}

/** Returns the kind of a channel. */
export function kindOf(entry: ChannelEntry): Channel {
  return Object.keys(entry)[0] as Channel;
}

/** Returns who is told of a message, by the rules of its tenant. */
export function planDeliveries(
  { channels, rules }: CommsSection,
  notice: Omit<Notice, "link">,
  now: Date,
): PlannedDelivery[] {
  const planned: PlannedDelivery[] = [];
  let order = 0;
  for (const rule of rules.filter((one) => matches(one, notice))) {
    const notBefore = quietUntil(rule, notice, now) ?? null;
    const plan = (names: readonly string[], escalatesAfterMinutes: number | null) => {
      order++;
      for (const channel of names) {
        planned.push({
          rule: rule.name,
          order,
          channel,
          kind: kindOf(channels[channel]!),
          notBefore,
          escalatesAfterMinutes,
        });
      }
    };
    plan(rule.tell, null);
    if (rule.escalate && asksPeople(notice.kind)) {
      plan(rule.escalate.tell, rule.escalate.after_minutes);
    }
  }
  return planned;
}

function matches(
  { kinds, severities, services }: CommsRule,
  notice: Omit<Notice, "link">,
): boolean {
  const { kind, severity, service } = notice;
  const isKind = kinds
    ? kinds.includes(kind) || kinds.includes(`${kind.split(".")[0]}.*`)
    : kind !== "said";
  return isKind && (!severities || severity !== null && severities.includes(severity)) &&
    (!services || service !== null && services.some((glob) => matchesGlob(glob, service)));
}

function quietUntil(
  { quiet }: CommsRule,
  { severity }: Pick<Notice, "severity">,
  now: Date,
): Date | undefined {
  if (!quiet || severity !== null && quiet.except.includes(severity)) return undefined;
  return endOfQuiet({ ...quiet, timeZone: quiet.time_zone }, now);
}
