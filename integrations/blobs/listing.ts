import type { BlobEntry } from "./blobs.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/**
 * Reads a page of a bucket's list.
 *
 * @returns its entries, and the token of the next page; undefined: there is none
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
 */
export function readListing(
  xml: string,
): { readonly entries: readonly BlobEntry[]; readonly next: string | undefined } {
  const entries = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry]) => ({
    key: textOf(entry!, "Key") ?? "",
    modifiedAt: new Date(textOf(entry!, "LastModified") ?? 0),
    bytes: Number(textOf(entry!, "Size") ?? 0),
  }));
  const rest = xml.replace(/<Contents>.*?<\/Contents>/gs, "");
  return { entries, next: textOf(rest, "NextContinuationToken") };
}

/** Returns the text of an element that has no others in it. */
function textOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text?.replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => ENTITIES[entity]!);
}
