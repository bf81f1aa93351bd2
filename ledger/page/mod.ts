/**
 * The public ledger's pages: the chain and each receipt, checked by the visitor's own browser.
 *
 * ```ts
 * bindSite(router, { call, ledgerUrl });
 * ```
 *
 * The pages can be read without scripts. The script, in `browser/`, fetches the raw records and checks them by the
 * server's rules in threads of its own; it never shows the server's verdict as its own.
 *
 * Trusts: the published key. In the browser it doesn't trust: the server's verdicts, and the content of receipts.
 * @module
 */
export { bindSite } from "./site.ts";
