/** Changes of deals. Each is one transaction with its activities and receipts. */
import { unknownRecord } from "../../calls/mod.ts";
import type { Config } from "../../config.ts";
import { describeUnknownName, InvalidInput } from "../../contract/mod.ts";
import { type Pipeline, readPipelines, recordChange, statusOf } from "./records/mod.ts";
import type { Deal, DealFields } from "../../contract/records/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  addDeal,
  type DealPlace,
  getDeal,
  lockDeal,
  moveDeal,
  updateDeal,
} from "../../store/crm/mod.ts";
import { type Author, requireContact, requireVersion } from "./_contacts.ts";

/** Changes of a deal. Fields that are left out stay. */
export interface DealChanges extends Partial<DealFields> {
  readonly stage?: string | undefined;
  readonly version?: number | undefined;
}

const FIELDS = ["title", "contact_id", "amount_minor", "currency", "expected_close"] as const;

/** Returns a deal. @throws {Problem} `NotFound` */
export async function requireDeal(db: Db, id: string): Promise<Deal> {
  const deal = await getDeal(db, id);
  if (deal) return deal;
  throw await noDeal(db, id);
}

const noDeal = (db: Db, id: string) => unknownRecord(db, "deal", id, "GET /api/deals lists them");

/** Adds a deal. @returns its id @throws {Problem} `NotFound`, `InvalidInput` */
export async function addNewDeal(
  trx: Db,
  config: Config,
  { pipeline, stage, ...fields }: DealFields & {
    readonly pipeline?: string | undefined;
    readonly stage?: string | undefined;
  },
  author: Author,
): Promise<string> {
  const { contact_id } = await requireContact(trx, fields.contact_id!);
  const place = placeIn(choosePipeline(readPipelines(config), pipeline), stage);
  const id = await addDeal(trx, fields, place);
  await recordChange(trx, {
    ...author,
    kind: "deal.created",
    contactId: contact_id,
    dealId: id,
    summary: `Created the deal in ${place.stage}`,
    evidence: { deal: await getDeal(trx, id) },
  });
  return id;
}

/** Changes the fields that are given, and moves the deal where a stage is. @throws {Problem} `NotFound`, `Conflict` */
export async function changeDeal(
  trx: Db,
  config: Config,
  id: string,
  { version, stage, ...fields }: DealChanges,
  author: Author,
): Promise<void> {
  const before = await lockDeal(trx, id);
  if (!before) throw await noDeal(trx, id);
  requireVersion(id, before.version, version);
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const after: Deal = { ...before, ...Object.fromEntries(given) };
  const changed = FIELDS.filter((field) => before[field] !== after[field]);
  if (changed.includes("contact_id")) await requireContact(trx, after.contact_id!);
  const about = { ...author, contactId: after.contact_id, dealId: id };
  if (changed.length > 0) {
    await updateDeal(trx, id, after);
    await recordChange(trx, {
      ...about,
      kind: "deal.updated",
      summary: `Changed ${changed.join(", ")}`,
      details: { fields: changed },
      evidence: Object.fromEntries(
        changed.map((field) => [field, { before: before[field], after: after[field] }]),
      ),
    });
  }
  if (stage === undefined || stage === before.stage) return;
  const place = placeIn(choosePipeline(readPipelines(config), before.pipeline), stage);
  await moveDeal(trx, id, place);
  await recordChange(trx, {
    ...about,
    kind: "deal.moved",
    summary: `Moved from ${before.stage} to ${place.stage}`,
    evidence: { from: before.stage, to: place.stage },
  });
}

/** Refuses a stage that a deal's pipeline lacks. @throws {Problem} `InvalidInput`, `NotConfigured` */
export function checkStage(config: Config, { pipeline }: Deal, stage: string): void {
  placeIn(choosePipeline(readPipelines(config), pipeline), stage);
}

/** @throws {InvalidInput} there is no such pipeline */
function choosePipeline(pipelines: readonly Pipeline[], name: string | undefined): Pipeline {
  const chosen = name === undefined
    ? pipelines[0]
    : pipelines.find(({ pipeline }) => pipeline === name);
  if (chosen) return chosen;
  const known = pipelines.map(({ pipeline }) => pipeline);
  const otherwise = `the pipelines are ${known.join(", ")}`;
  throw wrongName("pipeline", describeUnknownName("pipeline", name!, known, otherwise));
}

/** @throws {InvalidInput} the pipeline has no such stage */
function placeIn({ pipeline, stages }: Pipeline, name: string | undefined): DealPlace {
  const stage = name === undefined ? stages[0] : stages.find((one) => one.stage === name);
  if (stage) return { pipeline, stage: stage.stage, status: statusOf(stage) };
  const known = stages.map((one) => one.stage).join(", ");
  throw wrongName(
    "stage",
    `The pipeline ${pipeline} has no stage ${name}; its stages are ${known}`,
  );
}

function wrongName(field: string, msg: string): InvalidInput {
  return new InvalidInput([{ path: [field], msg, type: "enum" }]);
}
