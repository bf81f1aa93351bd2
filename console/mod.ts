/**
 * The console: the pages on which people see what needs them, and decide. A client of the gateway and nothing else: what a
 * page shows is an operation's answer, and its HTML holds nothing private.
 *
 * ```ts
 * bindConsole(router);
 * ```
 * @module
 */
export { bindConsole } from "./site.ts";
