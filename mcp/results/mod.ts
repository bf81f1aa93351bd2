/**
 * Results as agents get them: sentences and fields, as many as fit.
 *
 * ```ts
 * const { view, input } = takeView(operation.input, call.arguments);
 * const { text, value } = shape(operation, output, view); // at most 4 KB
 * ```
 *
 * @module
 */
export { tellGovernance } from "./governance.ts";
export { MAX_RESULT, shape } from "./shape.ts";
export { takeView, type View, VIEW_PROPERTIES } from "./view.ts";
