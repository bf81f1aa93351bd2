import type { Config } from "../../config.ts";
import type { BlobStore } from "./blobs.ts";
import { openBucket } from "./bucket.ts";

/** Opens the blobs that the settings name; undefined: each data folder has its own. Nothing is connected. */
export function openBlobs(config: Pick<Config, "settings">): BlobStore | undefined {
  return openBelow(config, "");
}

/** Opens the blobs of the signer's journal; undefined: it is in the data folder. Nothing is connected. */
export function openJournalBlobs(config: Pick<Config, "settings">): BlobStore | undefined {
  const folder = config.settings.SEALOOP_JOURNAL;
  return folder === undefined ? undefined : openBelow(config, `/${folder}`);
}

function openBelow({ settings }: Pick<Config, "settings">, path: string): BlobStore | undefined {
  const {
    SEALOOP_BLOBS_URL: url,
    SEALOOP_BLOBS_REGION: region,
    SEALOOP_BLOBS_KEY_ID: keyId,
    SEALOOP_BLOBS_SECRET: secret,
  } = settings;
  if (url === undefined || keyId === undefined || secret === undefined) return undefined;
  return openBucket({ url: `${url}${path}`, region, keyId, secret });
}
