import { z } from "zod";
import { safe, secret, text, url } from "./_kinds.ts";

/** Articles, posts, films and speech. */
export const PUBLISHING_SETTINGS = {
  SEALOOP_ARTICLES_URL: url(
    /^https?$/,
    "Public address of the articles' site; unset: /articles of the gateway",
  ),
  SEALOOP_ARTICLES_DIR: text(
    "Folder that articles are deployed to, and served from; unset: articles in the data folder",
  ),
  SEALOOP_ARTICLES_NAME: z.string().min(1).max(60).default("Incidents and repairs")
    .describe("Name of the articles' site"),
  SEALOOP_ARTICLES_SITE: z.enum(["folder", "git"]).default("folder")
    .describe("Where readers get the articles, and approved ones are deployed to"),
  SEALOOP_ARTICLES_GIT: text(
    "Repository that articles are deployed to, as git clone takes it; unset: none",
  ),
  SEALOOP_ARTICLES_GIT_BRANCH: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/).default(
    "main",
  )
    .describe("… and its branch"),
  SEALOOP_MASTODON_URL: safe(
    "Address of a Mastodon server, on which approved posts are published; needs the credential `mastodon`",
  ).optional(),
  SEALOOP_FFMPEG: text(
    "ffmpeg that makes films and sound; unset: the one on PATH, or one that is fetched from PyPI on first use",
  ),
  SEALOOP_PYTHON: text(
    "Python of version 3.10 or newer, with which speech, transcription and provenance run; unset: the one on PATH",
  ),
  SEALOOP_BLOBS_URL: safe(
    "Bucket of S3, or of a server that speaks its protocol, that films, sound, captions and pictures are kept in for all processes, as https://host/bucket, or with a prefix of the keys behind it; unset: each data folder has its own",
  ).optional(),
  SEALOOP_BLOBS_REGION: z.string().regex(/^[a-z0-9-]{1,40}$/).default("us-east-1")
    .describe("… and its region"),
  SEALOOP_BLOBS_KEY_ID: text("… and the id of the key that may read, write, list and delete in it"),
  SEALOOP_BLOBS_SECRET: secret("… and the key's secret"),
  SEALOOP_INBOX: text(
    "Folder whose sound and pictures calls may name by their paths; unset: inbox in the data folder",
  ),
};
