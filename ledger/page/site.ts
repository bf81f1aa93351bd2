import type Router from "@koa/router";
import type { Context } from "koa";
import { Problem } from "../../contract/mod.ts";
import { bindAssets } from "../../runtime/web/mod.ts";
import {
  type Anchors,
  type Call,
  exportRecords,
  type HowToVerify,
  type Stats,
  type Verified,
} from "./_answers.ts";
import { type Assets, loadPageAssets } from "./assets.ts";
import { toReceiptRow } from "./checks/mod.ts";
import { overviewPage } from "./overview.ts";
import { messagePage, receiptPage } from "./receipt.ts";
import { type Page, printPage, searchForm } from "./shell.ts";
import { h, receiptUrl, showText, type View } from "./views/mod.ts";

/** The parts that the pages are made of. */
export interface SiteParts {
  /** Calls an operation of the ledger by its name. */
  readonly call: Call;
  /** Public address of the ledger, without a slash at the end. */
  readonly ledgerUrl: string;
}

/** A page, or the address of another one. */
type SiteResponse = { readonly status: number; readonly page: Page } | {
  readonly location: string;
};

/** Everything is loaded from the ledger itself, nothing is inline, and no text becomes markup or script. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
  "trusted-types worker";
const ROWS = 20;
const MAX_ID_LENGTH = 128;
const POSITION = /^\d{1,15}$/;

/** Binds the pages to a router. @throws {Error} their files are not built */
export function bindSite<S>(
  router: Router<S>,
  parts: SiteParts,
  assets: Assets = loadPageAssets(),
): void {
  const page = (path: string, respond: (ctx: Context) => Promise<SiteResponse>) =>
    router.get(path, async (ctx) => send(ctx, await respond(ctx).catch(showProblem), assets));
  page("/", () => showOverview(parts));
  page("/find", ({ query }) => findReceipt(parts, String(query.q ?? "")));
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

const show = (title: string, main: View, data: Page["data"] = {}, status = 200): SiteResponse => ({
  status,
  page: { title: `${title} · sealoop ledger`, main, data },
});

async function showOverview({ call, ledgerUrl }: SiteParts): Promise<SiteResponse> {
  const [stats, anchors, rules] = await Promise.all([
    call("public_ledger.stats", {}) as Promise<Stats>,
    call("public_ledger.anchors", {}) as Promise<Anchors>,
    call("public_ledger.how_to_verify", {}) as Promise<HowToVerify>,
  ]);
  const from = Math.max(0, stats.total_receipts - ROWS);
  const records = await exportRecords(call, from, stats.total_receipts);
  const rows = records.map((record, n) => toReceiptRow(record, from + n, undefined)).reverse();
  const main = overviewPage({ stats, anchors, rules, rows, ledgerUrl });
  return show("Receipts", main, { page: "overview" });
}

/** Finds a receipt by what a visitor has entered: a position, an id, or a prefix of an id or hash. */
async function findReceipt(parts: SiteParts, entered: string): Promise<SiteResponse> {
  const text = entered.trim();
  const position = text.replace(/^#/, "");
  const isPosition = POSITION.test(position) && (text.startsWith("#") || text.length < 8);
  if (isPosition) return { location: `/at/${Number(position)}` };
  if (text === "") return { location: "/" };
  const { receipt } = await verify(parts, text);
  return receipt ? { location: receiptUrl(receipt.receipt_id) } : showUnknown(text);
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
  if (idOrPrefix === "" || idOrPrefix.length > MAX_ID_LENGTH) return NOT_FOUND;
  return await call("public_ledger.verify", { receipt_id: idOrPrefix }) as Verified;
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

function showUnknown(entered: string): SiteResponse {
  const message = messagePage("No such receipt", [
    "There is no receipt ",
    h("code", {}, showText(entered, MAX_ID_LENGTH)),
    ". Enter an id or a hash, or at least their first 8 characters.",
  ]);
  return show("No such receipt", [message, searchForm()], {}, 404);
}

/** Shows a problem as a page. */
function showProblem(error: unknown): SiteResponse {
  if (!(error instanceof Problem)) throw error;
  const status = error.name === "InvalidInput" ? 422 : error.rule.status;
  if (status === 503) {
    const title = "The ledger is unavailable";
    const text =
      "Its database cannot be reached, so the state of the chain is unknown. The page will try again.";
    return show(title, [messagePage(title, text), searchForm()], { page: "away" }, status);
  }
  const title = "Cannot show this";
  return show(title, [messagePage(title, showText(error.message, 1000)), searchForm()], {}, status);
}
