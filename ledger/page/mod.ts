/**
 * The ledger's pages: the chain and each receipt, checked by the visitor's own browser.
 *
 * ```ts
 * bindSite(router, { ask, ledgerUrl });
 * ```
 *
 * What the server prints can be read without a script. The script, in `browser/`, takes the raw records and checks them
 * by the same rules as the server, in threads of its own, and never takes the server's verdict for its own.
 *
 * Trusts: the published key. Doesn't trust, as it runs in the browser: any verdict of the server, and what is in a
 * receipt.
 * @module
 */
export { type Asset, type Assets, loadAssets } from "./assets.ts";
export { bindSite, type SiteParts } from "./site.ts";
