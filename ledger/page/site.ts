import type Router from "@koa/router";
import type { Context } from "koa";
import { type JsonText, Problem } from "../../contract/mod.ts";
import { type Asset, type Assets, loadAssets } from "./assets.ts";
import { rowOf } from "./check.ts";
import { type Anchors, overview } from "./overview.ts";
import { messagePage, receiptPage } from "./receipt.ts";
import { pieces, valueOf } from "./records.ts";
import { type Page, printPage, searchForm } from "./shell.ts";
import { legible } from "./text.ts";
import { receiptUrl } from "./verdict.ts";
import { h, type View } from "./view.ts";

/** What the pages are made of. */
export interface SiteParts {
  /** Calls one of the ledger's own operations by its name: pages know nothing that its API does not say. */
  ask(operation: string, input: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Public address of the ledger, without a slash at the end. */
  readonly ledgerUrl: string;
}

/** Everything comes from here alone; nothing is inline, and no text becomes markup or script. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
  "trusted-types worker";

const ROWS = 20;

/** Gives the pages to a router. @throws {Error} their files were not built */
export function bindSite<S>(
  router: Router<S>,
  parts: SiteParts,
  assets: Assets = loadAssets(),
): void {
  const page = (path: string, make: (ctx: Context) => Promise<Shown>) =>
    router.get(path, async (ctx) => give(ctx, await make(ctx).catch(problemPage), assets));
  page("/", () => ledgerPage(parts));
  page("/find", ({ query }) => find(parts, String(query.q ?? "")));
  page("/receipt/:id", ({ params }) => receipt(parts, params.id));
  page("/at/:position", ({ params }) => at(parts, params.position));
  for (const { path, type, bytes } of Object.values(assets) as Asset[]) {
    router.get(path, (ctx) => {
      ctx.set({ "cache-control": FOR_EVER, "content-security-policy": POLICY }); // a worker has its own
      ctx.type = type;
      ctx.body = bytes;
    });
  }
}

const FOR_EVER = "public, max-age=31536000, immutable";

function give(ctx: Context, shown: Shown, assets: Assets): void {
  if ("location" in shown) {
    ctx.redirect(shown.location);
    ctx.status = 303;
    return;
  }
  ctx.status = shown.status;
  ctx.set({
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
  });
  ctx.type = "text/html; charset=utf-8";
  ctx.body = printPage(shown.page, assets);
}

/** A page, or where it is. */
type Shown = { readonly status: number; readonly page: Page } | { readonly location: string };

const show = (title: string, main: View, data: Page["data"] = {}, status = 200): Shown => ({
  status,
  page: { title: `${title} · sealoop ledger`, main, data },
});

async function ledgerPage({ ask, ledgerUrl }: SiteParts): Promise<Shown> {
  const [stats, anchors, rules] = await Promise.all([
    ask("public_ledger.stats", {}) as Promise<Stats>,
    ask("public_ledger.anchors", {}) as Promise<AnchorCounts>,
    ask("public_ledger.how_to_verify", {}) as Promise<Rules>,
  ]);
  const from = Math.max(0, stats.total_receipts - ROWS);
  const records = await exported(ask, from, stats.total_receipts);
  const main = overview({
    total: stats.total_receipts,
    intact: stats.chain_intact,
    breaks: stats.breaks,
    verifiedThrough: stats.verified_through ?? -1,
    newest: stats.last_timestamp,
    genesis: stats.genesis_timestamp,
    selfHeals: stats.self_heals,
    platformFixes: stats.platform_fixes,
    categories: countsOf(stats.provenance_summary),
    rows: records.map((record, n) => rowOf(record, from + n, undefined)).reverse(),
    keys: rules.keys.map(({ public_key, fingerprint_sha256, from_position }) => ({
      publicKey: public_key,
      fingerprint: fingerprint_sha256,
      fromPosition: from_position,
    })),
    anchors: asAnchors(anchors),
    logKey: rules.log.verifier_key,
    ledgerUrl,
  });
  return show("Every act on record", main, { page: "overview" });
}

interface Stats {
  readonly total_receipts: number;
  readonly chain_intact: boolean | null;
  readonly breaks: number;
  readonly verified_through?: number;
  readonly last_timestamp: string | null;
  readonly genesis_timestamp: string | null;
  readonly self_heals: number;
  readonly platform_fixes: number;
  readonly provenance_summary: unknown;
}

interface Rules {
  readonly keys: readonly PublishedKey[];
  readonly log: { readonly verifier_key: string | null };
}

interface PublishedKey {
  readonly public_key: string;
  readonly fingerprint_sha256: string;
  readonly from_position: number;
}

/** Counts by category, from a summary that has a number, or something with a count, for each. */
function countsOf(summary: unknown): [string, number][] {
  return Object.entries(summary ?? {}).flatMap(([name, value]) => {
    const n = typeof value === "object" ? value?.count : value;
    return typeof n === "number" ? [[name, n] as [string, number]] : [];
  });
}

interface AnchorCounts {
  readonly anchored_receipts: number;
  readonly anchored_share: number;
  readonly newest_block_height: number | null;
  readonly pending: { readonly receipts: number; readonly unbatched_receipts: number };
}

const asAnchors = (counts: AnchorCounts): Anchors => ({
  receipts: counts.anchored_receipts,
  share: counts.anchored_share,
  pending: counts.pending.receipts + counts.pending.unbatched_receipts,
  newestHeight: counts.newest_block_height,
});

async function exported(ask: SiteParts["ask"], from: number, to: number): Promise<string[]> {
  if (to <= from) return [];
  const { text } = await ask("public_ledger.export", { from, to }) as JsonText;
  return pieces(valueOf(text, "receipts") ?? "[]");
}

async function find(parts: SiteParts, asked: string): Promise<Shown> {
  const q = asked.trim();
  if (/^#?\d{1,15}$/.test(q) && (q.startsWith("#") || q.length < 8)) {
    return { location: `/at/${Number(q.replace("#", ""))}` };
  }
  if (q === "") return { location: "/" };
  return await receipt(parts, q, false);
}

interface Verified {
  readonly found: boolean;
  readonly verified?: boolean;
  readonly reasons?: readonly string[];
  readonly superseded_by?: string | null;
  readonly receipt: { readonly receipt_id: string; readonly chain_position: number } | null;
}

/** @param isHere whether the address is that of the receipt, if this is its id */
async function receipt(parts: SiteParts, asked: string, isHere = true): Promise<Shown> {
  if (asked === "" || asked.length > 128) return unknown(asked);
  const found = await parts.ask("public_ledger.verify", { receipt_id: asked }) as Verified;
  if (!found.receipt) return unknown(asked);
  const { receipt_id: id, chain_position: position } = found.receipt;
  if (id !== asked || !isHere) return { location: receiptUrl(id) };
  return await exhibit(parts, position, id, found);
}

/** A receipt by its position: its own page, or, where it has no readable id, a page of it here. */
async function at(parts: SiteParts, text: string): Promise<Shown> {
  const position = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  const [record] = Number.isNaN(position) ? [] : await exported(parts.ask, position, position + 1);
  if (record === undefined) return unknown(`#${text}`);
  const { id } = rowOf(record, position, undefined);
  const found = id === "" ? undefined : await parts.ask("public_ledger.verify", { receipt_id: id })
    .catch(() => undefined) as Verified | undefined;
  if (found?.receipt?.receipt_id === id && found.receipt.chain_position === position) {
    return { location: receiptUrl(id) };
  }
  return await exhibit(parts, position, id, undefined);
}

async function exhibit(
  { ask, ledgerUrl }: SiteParts,
  position: number,
  id: string,
  found: Verified | undefined,
): Promise<Shown> {
  const from = Math.max(0, position - 1);
  const records = await exported(ask, from, position + 2);
  const record = records[position - from];
  if (record === undefined) return unknown(id);
  const main = receiptPage({
    ...{ position, record, id, ledgerUrl },
    isFirst: position === 0,
    isNewest: records.length <= position - from + 1,
    server: found && { verified: found.verified ?? false, reasons: found.reasons ?? [] },
    supersededBy: found?.superseded_by ?? undefined,
  });
  const data = { page: "receipt", position: String(position), ...(found ? { asked: id } : {}) };
  return show(`Receipt #${position}`, main, data);
}

const unknown = (asked: string): Shown =>
  show(
    "No such receipt",
    [
      messagePage("No such receipt", [
        "The server finds none for ",
        h("code", {}, legible(asked, 128)),
        ". Ids and hashes can be given by their first 8 characters or more.",
      ]),
      searchForm(),
    ],
    {},
    404,
  );

/** What the API would say as an error, as a page. */
function problemPage(error: unknown): Shown {
  if (!(error instanceof Problem)) throw error;
  const status = error.name === "InvalidInput" ? 422 : error.rule.status;
  const title = status === 503 ? "The ledger can’t be read now" : "That can’t be shown";
  const text = status === 503
    ? "Its database is away, so nothing can be said of the chain, good or bad. This page tries again by itself."
    : legible(error.message, 1000);
  const main = [messagePage(title, text), searchForm()];
  return show(title, main, status === 503 ? { page: "away" } : {}, status);
}
