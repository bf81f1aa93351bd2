import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { Problem } from "../../contract/mod.ts";
import { openHttpClient, OutboundFailed, type OutboundResponse } from "../http/mod.ts";
import type { BlobStore } from "./blobs.ts";
import { readListing } from "./listing.ts";

/** A bucket of S3 or of a server that speaks its protocol. */
interface BucketPlace {
  /** Of the bucket, such as `https://s3.eu-central-1.amazonaws.com/acme`, with a prefix of the keys or without. */
  readonly url: string;
  readonly region: string;
  readonly keyId: string;
  readonly secret: string;
}

type Method = "GET" | "PUT" | "HEAD" | "DELETE";

const MAX_BLOB_BYTES = 512 * 1024 * 1024;
const TIMEOUT_MS = 300_000;
/** Whoever creates a blob waits for it. */
const CREATE_TIMEOUT_MS = 10_000;
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Opens a bucket. Requests are signed (AWS Signature Version 4) with the SHA-256 of their bodies.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export function openBucket({ url, region, keyId, secret }: BucketPlace): BlobStore {
  const { origin, hostname, pathname } = new URL(url);
  const [, bucket = "", prefix = ""] = /^\/([^/]+)\/?(.*?)\/?$/.exec(pathname) ?? [];
  const path = (key: string) => prefix === "" ? key : `${prefix}/${key}`;
  const http = openHttpClient({ allowHosts: [hostname] });

  /** Sends a signed request. @returns the response, where its status is one of these */
  async function send(
    method: Method,
    address: string,
    statuses: readonly number[],
    body?: Uint8Array,
    more: { readonly headers?: Record<string, string>; readonly timeoutMs?: number } = {},
  ): Promise<OutboundResponse> {
    const { headers } = await new AwsV4Signer({
      method,
      url: address,
      headers: { ...more.headers, "x-amz-content-sha256": hashOf(body ?? new Uint8Array()) },
      accessKeyId: keyId,
      secretAccessKey: secret,
      service: "s3",
      region,
    }).sign();
    const response = await http.request(address, {
      method,
      headers: Object.fromEntries(headers),
      ...(body ? { body } : {}),
      timeoutMs: more.timeoutMs ?? TIMEOUT_MS,
      maxBytes: method === "GET" ? MAX_BLOB_BYTES : MAX_ERROR_BYTES,
      ...(method === "HEAD" ? { ignoreBody: true } : {}),
    }).catch((cause) => {
      if (!(cause instanceof OutboundFailed)) throw cause;
      throw new Problem(
        "Unavailable",
        `The blobs at ${origin} can't be reached: ${cause.message}`,
        {
          cause,
        },
      );
    });
    if (statuses.includes(response.status)) return response;
    throw refused(response);
  }

  function refused({ status }: OutboundResponse): Problem {
    const what = status === 403
      ? `${origin} refuses SEALOOP_BLOBS_KEY_ID with SEALOOP_BLOBS_SECRET for the bucket ${bucket}`
      : status === 404
      ? `${origin} has no bucket ${bucket} (SEALOOP_BLOBS_URL)`
      : `${origin} answers ${status}`;
    return new Problem("Unavailable", `Cannot use the blobs: ${what}`);
  }

  const blobUrl = (key: string) => `${origin}/${bucket}/${path(key)}`;

  return {
    async put(key, bytes) {
      await send("PUT", blobUrl(key), [200], bytes);
    },
    async create(key, bytes) {
      const { status } = await send("PUT", blobUrl(key), [200, 412], bytes, {
        headers: { "if-none-match": "*" },
        timeoutMs: CREATE_TIMEOUT_MS,
      });
      return status === 200;
    },
    async get(key) {
      const { status, body } = await send("GET", blobUrl(key), [200, 404]);
      return status === 200 ? body : undefined;
    },
    async modifiedAt(key) {
      const { status, headers } = await send("HEAD", blobUrl(key), [200, 404]);
      return status === 200 ? new Date(headers["last-modified"] ?? 0) : undefined;
    },
    async remove(key) {
      await send("DELETE", blobUrl(key), [200, 204, 404]);
    },
    async *list(start) {
      let next: string | undefined;
      do {
        const query = new URLSearchParams({ "list-type": "2", prefix: path(start) });
        if (next !== undefined) query.set("continuation-token", next);
        const { body } = await send("GET", `${origin}/${bucket}?${query}`, [200]);
        const listing = readListing(body.toString());
        for (const entry of listing.entries) {
          yield { ...entry, key: entry.key.slice(path("").length) };
        }
        next = listing.next;
      } while (next !== undefined);
    },
  };
}

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
