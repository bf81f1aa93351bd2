import { forTenant } from "../calls/mod.ts";
import { settleLostUses } from "../operations/models/use/mod.ts";
import { settleLostCalls } from "../calls/recover/mod.ts";
import { PLATFORM_TENANT } from "../contract/domain/mod.ts";
import { commsFilePath, followComms } from "../integrations/channels/mod.ts";
import { openHolder } from "../store/mod.ts";
import { type OfTenant, wrapActivities } from "./_wrap.ts";
import { ACT_KINDS } from "./act_kinds.ts";
import { settleOpenActs } from "./acts/mod.ts";
import { approvalActivities, heldCallActivities } from "./approvals/mod.ts";
import {
  approveArticleActivities,
  deployArticleActivities,
  writeArticleActivities,
} from "./articles/mod.ts";
import {
  commandActivities,
  deviceActivities,
  discoveryActivities,
  followCommandActivities,
  meshActivities,
} from "./devices/mod.ts";
import { ACTIVITY_ARGUMENTS } from "./arguments/mod.ts";
import { conversationActivities, peerActivities } from "./agents/mod.ts";
import { crewActivities, diagnosisDraftActivities } from "./reasoning/crew/mod.ts";
import { sandboxActivities, testServiceActivities } from "./drills/mod.ts";
import {
  anchorActivities,
  scrubActivities,
  sealActivities,
  sequencerActivities,
  type SequencerActivityParts,
} from "./ledger/mod.ts";
import {
  closeActivities,
  diagnoseActivities,
  observeActivities,
  probeActivities,
  remediateActivities,
  sweepActivities,
  ticketActivities,
  undoActivities,
} from "./incidents/mod.ts";
import { dueActivities, noticeActivities } from "./notices/mod.ts";
import {
  endEmailActivities,
  mailboxActivities,
  prepareEmailActivities,
  replyActivities,
  sequenceActivities,
  transmitEmailActivities,
} from "./mail/mod.ts";
import { outsideActivities } from "./integrations/mod.ts";
import {
  endedMediaActivities,
  speechActivities,
  transcriptionActivities,
  videoActivities,
} from "./media/mod.ts";
import { openMedia } from "../integrations/media/mod.ts";
import type { ActivityParts, TenantParts } from "./parts.ts";
import { askAboutItemActivities, publishItemActivities } from "./articles/publishing/mod.ts";
import { answerDraftActivities, reasoningActivities } from "./reasoning/mod.ts";
import { relayActivities } from "./relay.ts";
import { scanActivities } from "./security_scan.ts";
import { taskActivities } from "./a2a.ts";
import { tenantActivities } from "./tenants.ts";
import { webhookActivities } from "./webhooks.ts";

/** All activities, by the names that workflows call them by. */
export type Activities =
  & ReturnType<typeof activitiesOf>
  & ReturnType<typeof sequencerActivities>;

/** The activities as workers run them: with the tenant in whose name they work before their arguments. */
export type TenantActivities = OfTenant<Activities>;

/** Creates the activities of the sequencer's process. They serve all tenants. */
export function createSequencerActivities(
  parts: SequencerActivityParts,
): Pick<TenantActivities, "runLedgerSequencer"> {
  const activities = sequencerActivities(parts);
  return wrapActivities(activities, () => activities, ACTIVITY_ARGUMENTS);
}

/** Creates the activities of a worker. */
export function createActivities(parts: ActivityParts): OfTenant<ReturnType<typeof activitiesOf>> {
  const { config } = parts;
  const comms = followComms(commsFilePath(config));
  const shared = { ...parts, holder: openHolder(parts.store), media: openMedia(config), comms };
  const byTenant = new Map<string, ReturnType<typeof activitiesOf>>();
  const ofTenant = (tenant: string) => {
    const known = byTenant.get(tenant) ?? activitiesOf(forTenant(shared, tenant));
    byTenant.set(tenant, known);
    return known;
  };
  return wrapActivities(ofTenant(PLATFORM_TENANT), ofTenant, ACTIVITY_ARGUMENTS);
}

/** Creates the activities that work in the name of one tenant. */
function activitiesOf(parts: TenantParts) {
  return {
    ...probeActivities(parts),
    ...ticketActivities(parts),
    ...observeActivities(parts),
    ...diagnoseActivities(parts),
    ...remediateActivities(parts),
    ...undoActivities(parts),
    ...closeActivities(parts),
    ...sweepActivities(parts),
    ...scanActivities(parts),
    ...discoveryActivities(parts),
    ...testServiceActivities(parts),
    ...sandboxActivities(parts),
    ...sealActivities(parts),
    ...scrubActivities(parts),
    ...anchorActivities(parts),
    ...approvalActivities(parts),
    ...heldCallActivities(parts),
    ...reasoningActivities(parts),
    ...answerDraftActivities(parts),
    ...crewActivities(parts),
    ...diagnosisDraftActivities(parts),
    ...conversationActivities(parts),
    ...peerActivities(parts),
    ...taskActivities(parts),
    ...tenantActivities(parts),
    ...endEmailActivities(parts),
    ...prepareEmailActivities(parts),
    ...transmitEmailActivities(parts),
    ...mailboxActivities(parts),
    ...replyActivities(parts),
    ...sequenceActivities(parts),
    ...deviceActivities(parts),
    ...outsideActivities(parts),
    ...meshActivities(parts),
    ...commandActivities(parts),
    ...followCommandActivities(parts),
    ...writeArticleActivities(parts),
    ...approveArticleActivities(parts),
    ...deployArticleActivities(parts),
    ...askAboutItemActivities(parts),
    ...publishItemActivities(parts),
    ...speechActivities(parts),
    ...transcriptionActivities(parts),
    ...videoActivities(parts),
    ...endedMediaActivities(parts),
    ...webhookActivities(parts),
    ...relayActivities(parts),
    ...noticeActivities(parts),
    ...dueActivities(parts),
    /** Seals the end of calls, and of uses of models, whose process was killed. Safe to repeat: each has one end. */
    settleLostCalls: async () => await settleLostCalls(parts) + await settleLostUses(parts.store),
    /** Ends what its run has left open. Safe to repeat: each has one end. */
    settleOpenActs: async () => await settleOpenActs(parts, ACT_KINDS),
  };
}
