import type Router from "@koa/router";
import type { Context } from "koa";
import { bindAssets } from "../../runtime/web/mod.ts";
import {
  type Activity,
  type Anchors,
  type Call,
  exportRecords,
  type HowToVerify,
  type Stats,
  type Verified,
} from "./_answers.ts";
import { type ListQuery, printQuery, readList, readQuery } from "./_reading.ts";
import { MAX_ENTERED, show, showProblem, showUnknown, type SiteResponse } from "./_responses.ts";
import { type Assets, loadPageAssets } from "./assets.ts";
import { toReceiptRow } from "./checks/mod.ts";
import { find } from "./find.ts";
import { overviewPage } from "./overview.ts";
import { receiptPage } from "./receipt.ts";
import { printPage } from "./shell.ts";
import { showStatus } from "./status.ts";
import { showStory } from "./story.ts";
import { receiptUrl } from "./views/mod.ts";

/** The parts that the pages are made of. */
export interface SiteParts {
  /** Calls an operation of the ledger by its name. */
  readonly call: Call;
  /** Public address of the ledger, without a slash at the end. */
  readonly ledgerUrl: string;
}

/** Everything is loaded from the ledger itself, nothing is inline, and no text becomes markup or script. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
  "trusted-types worker";
const ROWS = 20;
const DAYS = 30;
const POSITION = /^\d{1,15}$/;

/** Binds the pages to a router. @throws {Error} their files are not built */
export function bindSite<S>(
  router: Router<S>,
  parts: SiteParts,
  assets: Assets = loadPageAssets(),
): void {
  const page = (path: string, respond: (ctx: Context) => Promise<SiteResponse>) =>
    router.get(path, async (ctx) => send(ctx, await respond(ctx).catch(showProblem), assets));
  page("/", ({ query }) => showOverview(parts, readQuery(query)));
  page("/find", ({ query }) => find(parts.call, String(query.q ?? "")));
  page("/status", () => showStatus(parts.call));
  for (const path of ["/incidents/:id", "/approvals/:id", "/about/:id"]) {
    page(path, ({ params }) => showStory(parts.call, params.id));
  }
  page("/receipt/:id", ({ params }) => showReceipt(parts, params.id));
  page("/at/:position", ({ params }) => showPosition(parts, params.position));
  bindAssets(router, assets, POLICY);
}

function send(ctx: Context, response: SiteResponse, assets: Assets): void {
  if ("location" in response) {
    ctx.redirect(response.location);
    ctx.status = 303;
    return;
  }
  ctx.status = response.status;
  ctx.set({
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
  });
  ctx.type = "text/html; charset=utf-8";
  ctx.body = printPage(response.page, assets);
}

/** Shows the chain and a list of its receipts: by default what happened. */
async function showOverview({ call, ledgerUrl }: SiteParts, asked: ListQuery) {
  const isFiltered = Object.keys(asked).some((name) => name !== "before");
  const query = isFiltered ? asked : { ...asked, kind: "happened" };
  const [stats, anchors, rules, activity, list] = await Promise.all([
    call("public_ledger.stats", {}) as Promise<Stats>,
    call("public_ledger.anchors", {}) as Promise<Anchors>,
    call("public_ledger.how_to_verify", {}) as Promise<HowToVerify>,
    call("public_ledger.activity", { days: DAYS }) as Promise<Activity>,
    readList(call, query, ROWS),
  ]);
  const main = overviewPage({ stats, anchors, rules, activity, query, list, ledgerUrl });
  const positions = list.receipts.map(({ position }) => position).join(" ");
  const { kind, ...rest } = query;
  const api = printQuery(kind === "all" ? rest : query);
  return show("Receipts", main, { page: "overview", positions, list: api });
}

async function showReceipt(parts: SiteParts, idOrPrefix: string): Promise<SiteResponse> {
  const verified = await verify(parts, idOrPrefix);
  if (!verified.receipt) return showUnknown(idOrPrefix);
  const { receipt_id: id, chain_position: position } = verified.receipt;
  if (id !== idOrPrefix) return { location: receiptUrl(id) };
  return await showRecord(parts, position, id, verified);
}

/** Shows a receipt by its position. Its own page is elsewhere, unless its id was made unreadable. */
async function showPosition(parts: SiteParts, text: string): Promise<SiteResponse> {
  const position = POSITION.test(text) ? Number(text) : NaN;
  const [record] = Number.isNaN(position)
    ? []
    : await exportRecords(parts.call, position, position + 1);
  if (record === undefined) return showUnknown(`#${text}`);
  const { id } = toReceiptRow(record, position, undefined);
  const { receipt } = await verify(parts, id).catch(() => NOT_FOUND);
  if (receipt?.receipt_id === id && receipt.chain_position === position) {
    return { location: receiptUrl(id) };
  }
  return await showRecord(parts, position, id, undefined);
}

const NOT_FOUND: Verified = { receipt: null };

async function verify({ call }: SiteParts, idOrPrefix: string): Promise<Verified> {
  if (idOrPrefix === "" || idOrPrefix.length > MAX_ENTERED) return NOT_FOUND;
  return await call("public_ledger.verify", { receipt_id: idOrPrefix }) as Verified;
}

/** Receipts of the scrub that are looked through for a break. */
const MAX_BREAKS = 100;

/** Finds the receipt in which the scrub says that one is broken. */
async function findBreak(call: Call, position: number) {
  const { breaks } = await call("public_ledger.stats", {}) as Stats;
  if (breaks === 0) return undefined;
  const category = "ledger_break";
  const { receipts } = await readList(call, { category }, MAX_BREAKS).catch(() => ({
    receipts: [],
  }));
  const last = receipts.find(({ details }) => details.position === position);
  return last && last.outcome !== "healed" ? { at: last.timestamp, receipt: last.id } : undefined;
}

/** @param verified undefined if the receipt cannot be found by its id */
async function showRecord(
  { call, ledgerUrl }: SiteParts,
  position: number,
  id: string,
  verified: Verified | undefined,
): Promise<SiteResponse> {
  const from = Math.max(0, position - 1);
  const records = await exportRecords(call, from, position + 2);
  const record = records[position - from];
  if (record === undefined) return showUnknown(id);
  const main = receiptPage({
    broken: await findBreak(call, position),
    position,
    record,
    id,
    ledgerUrl,
    isFirst: position === 0,
    isNewest: records.length <= position - from + 1,
    server: verified && { verified: verified.verified ?? false, reasons: verified.reasons ?? [] },
    supersededBy: verified?.superseded_by ?? undefined,
  });
  const data = { page: "receipt", position: String(position), ...(verified ? { asked: id } : {}) };
  return show(`Receipt #${position}`, main, data);
}
