import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import type { MediaTools, RunBounds } from "./tools.ts";

/** Media types that a manifest can be written into. */
const SIGNABLE_TYPES = ["video/mp4", "audio/mpeg", "audio/wav", "image/png"] as const;

/** Media type that a manifest can be written into. */
export type SignableType = typeof SIGNABLE_TYPES[number];

/** A file to write a manifest into. */
export interface ProvenanceOrder {
  readonly source: string;
  readonly target: string;
  readonly mediaType: SignableType;
  readonly title: string;
  /** True where a model has made a part of it, such as the voice. */
  readonly generated: boolean;
  /** Receipt that says how it was made. */
  readonly receiptId: string;
  /** Folder of the signing key; the first call makes one. */
  readonly keys: string;
}

/** State of a file's manifest. */
export interface Provenance {
  /** `untrusted`: the manifest fits the file, and its signer is known to nobody but us. */
  readonly state: "none" | "invalid" | "untrusted" | "trusted";
  readonly issuer: string | null;
  readonly receipt_id: string | null;
}

const SECONDS = 120;

/** Writes a C2PA manifest into a copy of a file: by what it was made, and which receipt speaks of it. */
export async function addProvenance(
  tools: MediaTools,
  { mediaType, receiptId, ...order }: ProvenanceOrder,
  bounds: Omit<RunBounds, "seconds">,
): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const request = { act: "sign", ...order, media_type: mediaType, receipt_id: receiptId, version };
  await tools.python("provenance", request, { ...bounds, seconds: SECONDS });
}

/** Reads the manifest of a file, and checks whether it fits. */
export async function readProvenance(
  tools: MediaTools,
  { source, mediaType }: { readonly source: string; readonly mediaType: SignableType },
  bounds: Omit<RunBounds, "seconds">,
): Promise<Provenance> {
  const request = { act: "read", source, media_type: mediaType };
  return await tools.python("provenance", request, { ...bounds, seconds: SECONDS });
}
