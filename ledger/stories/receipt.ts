const NAME = /^(?:[A-Z]{2,5}-[0-9a-f]{12}|key:[0-9a-f]{16})$/;

/** Returns whether a text is an id that receipts are found by: `INC-…`, `APR-…`, `key:…`. */
export const isName = (text: string): boolean => NAME.test(text);
