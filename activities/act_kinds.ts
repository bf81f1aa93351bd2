/** How all that can be open is ended, by its kind. */
import type { ActKind } from "./acts/mod.ts";
import { peerKind } from "./agents/mod.ts";
import { approvalKind } from "./approvals/mod.ts";
import { articleKind, deployKind, siteKind } from "./articles/mod.ts";
import { itemKind } from "./articles/publishing/mod.ts";
import { commandKind } from "./devices/mod.ts";
import { liftKind, silenceKind, ticketKind } from "./incidents/mod.ts";
import { outsideKind } from "./integrations/mod.ts";
import { mailKind } from "./mail/mod.ts";
import { mediaKind } from "./media/mod.ts";
import { tenantsKind } from "./tenants.ts";

/** How all that can be open is ended, by its kind. */
export const ACT_KINDS: Readonly<Record<string, ActKind>> = {
  peer: peerKind,
  tenants: tenantsKind,
  silence: silenceKind,
  lift: liftKind,
  act: outsideKind,
  mail: mailKind,
  command: commandKind,
  article: articleKind,
  deploy: deployKind,
  site: siteKind,
  item: itemKind,
  video: mediaKind("video"),
  speech: mediaKind("speech"),
  transcription: mediaKind("transcription"),
  approval: approvalKind,
  ticket: ticketKind,
};
