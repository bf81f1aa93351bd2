import { forTenant } from "../calls/mod.ts";
import { settleLostUses } from "../operations/models/use/mod.ts";
import { settleLostCalls } from "../calls/recover/mod.ts";
import { PLATFORM_TENANT } from "../contract/domain/mod.ts";
import { commsFilePath, followComms } from "../integrations/channels/mod.ts";
import { keepComposedTexts, openHolder } from "../store/mod.ts";
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
  scanNetworkActivities,
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
  changeActivities,
  closeActivities,
  diagnoseActivities,
  holdActivities,
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
import { openPlace } from "./place_key.ts";
import { placeActivities } from "./places.ts";
import { relayActivities } from "./relay.ts";
import { scanActivities } from "./security_scan.ts";
import { taskActivities } from "./a2a.ts";
import { tenantActivities } from "./tenants.ts";
import { webhookActivities } from "./webhooks.ts";

/** Activities that any worker may do, by the names that workflows call them by: they touch no machine of a place. */
export type Activities =
  & ReturnType<typeof sharedActivities>
  & ReturnType<typeof sequencerActivities>;

/** Activities that touch the machine of a place, which its own workers do alone. */
export type PlaceActivities = ReturnType<typeof activitiesOfPlace>;

/** Activities by which a place makes media, one at a time. */
export type MediaActivities = ReturnType<typeof activitiesOfMedia>;

/** The activities as workers run them: with the tenant in whose name they work before their arguments. */
export type TenantActivities = OfTenant<Activities & PlaceActivities & MediaActivities>;

/** The activities of a worker, by the task queue of `temporal.yaml` that brings them; each is on one kind of queue alone. */
export type WorkerActivities = {
  readonly itsm: OfTenant<ReturnType<typeof sharedActivities>>;
  readonly ledger: OfTenant<ReturnType<typeof sharedActivities>>;
  readonly act: OfTenant<PlaceActivities>;
  readonly media: OfTenant<MediaActivities>;
};

/** Creates the activities of the sequencer's process. They serve all tenants. */
export function createSequencerActivities(
  parts: SequencerActivityParts,
): Pick<TenantActivities, "runLedgerSequencer"> {
  const activities = sequencerActivities(parts);
  return wrapActivities(activities, () => activities, ACTIVITY_ARGUMENTS, keepIn(parts));
}

/** Creates the activities of a worker. */
export function createActivities(parts: ActivityParts): WorkerActivities {
  const { config } = parts;
  const comms = followComms(commsFilePath(config));
  const all = {
    ...parts,
    holder: openHolder(parts.store),
    place: openPlace(parts),
    media: openMedia(config),
    comms,
  };
  const shared = memoizeByTenant(all, sharedActivities);
  const ofPlace = memoizeByTenant(all, activitiesOfPlace);
  const ofMedia = memoizeByTenant(all, activitiesOfMedia);
  const keep = keepIn(parts);
  const itsm = wrapActivities(shared(PLATFORM_TENANT), shared, ACTIVITY_ARGUMENTS, keep);
  return {
    itsm,
    ledger: itsm,
    act: wrapActivities(ofPlace(PLATFORM_TENANT), ofPlace, ACTIVITY_ARGUMENTS, keep),
    media: wrapActivities(ofMedia(PLATFORM_TENANT), ofMedia, ACTIVITY_ARGUMENTS, keep),
  };
}

/** Returns the function that keeps where composed texts in results quote others. */
function keepIn({ store }: Pick<ActivityParts, "store">) {
  return (tenant: string, result: unknown) => keepComposedTexts(store.asTenant(tenant), result);
}

/** Returns the function that creates the activities of a tenant at its first call. */
function memoizeByTenant<A>(
  parts: TenantParts,
  create: (parts: TenantParts) => A,
): (tenant: string) => A {
  const byTenant = new Map<string, A>();
  return (tenant) => {
    const known = byTenant.get(tenant) ?? create(forTenant(parts, tenant));
    byTenant.set(tenant, known);
    return known;
  };
}

/**
 * Creates the activities that touch the machine of a place, in the name of one tenant: its probes, detectors and looks, what is
 * done to its services, and how that is verified and undone.
 */
function activitiesOfPlace(parts: TenantParts) {
  return {
    ...probeActivities(parts),
    ...observeActivities(parts),
    ...diagnoseActivities(parts),
    ...remediateActivities(parts),
    ...undoActivities(parts),
    ...changeActivities(parts),
    ...sweepActivities(parts),
    ...scanActivities(parts),
    ...scanNetworkActivities(parts),
    ...testServiceActivities(parts),
    ...sandboxActivities(parts),
  };
}

/** Creates the activities whose programs make media on the machine of a place. */
function activitiesOfMedia(parts: TenantParts) {
  return {
    ...speechActivities(parts),
    ...transcriptionActivities(parts),
    ...videoActivities(parts),
  };
}

/** Creates the activities that touch no machine of a place, in the name of one tenant. */
function sharedActivities(parts: TenantParts) {
  return {
    ...placeActivities(parts),
    ...ticketActivities(parts),
    ...holdActivities(parts),
    ...closeActivities(parts),
    ...discoveryActivities(parts),
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
