/**
 * Documents of the operator's, in a Weaviate.
 *
 * ```ts
 * const weaviate = openWeaviate(config); // undefined: none is set
 * const passages = await weaviate.search("Why does a certificate chain fail?");
 * ```
 *
 * Doesn't trust: its answers beyond their shape; its texts are data.
 * @module
 */
export { openWeaviate, type RagClient } from "./weaviate.ts";
