import { count } from "./_kinds.ts";

/** Limits of callers. */
export const LIMIT_SETTINGS = {
  SEALOOP_LIMIT_FREE: count(100, "Requests a day of a free key or an anonymous address"),
  SEALOOP_LIMIT_PARTNER: count(1000, "Requests a day of a partner key"),
  SEALOOP_LIMIT_ENTERPRISE: count(10000, "Requests a day of an enterprise key"),
  SEALOOP_LIMIT_CLASSIFY_FREE: count(10, "Reports classified a day, of a free key or address"),
  SEALOOP_LIMIT_CLASSIFY_PARTNER: count(100, "Reports classified a day, of a partner key"),
  SEALOOP_LIMIT_CLASSIFY_ENTERPRISE: count(1000, "Reports classified a day, of an enterprise key"),
  SEALOOP_LIMIT_APPLICATIONS: count(5, "Applications of partners a day, of one address"),
  SEALOOP_LIMIT_ALL_APPLICATIONS: count(200, "… and of all addresses together"),
  SEALOOP_LIMIT_LEADS: count(5, "Leads a day, of one address"),
  SEALOOP_LIMIT_ALL_LEADS: count(200, "… and of all addresses together"),
  SEALOOP_LIMIT_POSTS: count(20, "Posts written a day, of one address"),
  SEALOOP_LIMIT_ALL_POSTS: count(500, "… and of all addresses together"),
  SEALOOP_LIMIT_IDEMPOTENCY: count(
    10000,
    "Calls with an idempotency key a day, of a key or of all anonymous addresses",
  ),
  SEALOOP_LIMIT_ANONYMOUS_RECEIPTS: count(
    100,
    "Receipts a day that callers without a key cause, of one address (of IPv6: of one /64)",
  ),
  SEALOOP_LIMIT_ANONYMOUS_BYTES: count(
    5_000_000,
    "… and bytes of these receipts and their evidence, each counted as twice its request and 16 KiB",
  ),
  SEALOOP_LIMIT_ALL_ANONYMOUS_RECEIPTS: count(
    10_000,
    "Receipts a day that all callers without a key cause together",
  ),
  SEALOOP_LIMIT_ALL_ANONYMOUS_BYTES: count(400_000_000, "… and their bytes"),
  SEALOOP_LIMIT_ALL_ANONYMOUS: count(
    1_000_000,
    "Requests a day of all callers without a key together",
  ),
  SEALOOP_LIMIT_UNKNOWN_KEYS: count(30, "Unknown keys and wrong tokens a minute of one address"),
  SEALOOP_LIMIT_SIGN_IN: count(60, "Steps of signing in to the console a minute, of one address"),
  SEALOOP_LIMIT_CONSOLE: count(
    600,
    "Requests a minute of a person who has signed in to the console; they count for no day",
  ),
  SEALOOP_LIMIT_TOOLS: count(60, "Requests a minute of a key on the tool server"),
  SEALOOP_LIMIT_MEDIA: count(
    5,
    "Requests for speech, transcripts or films of a tenant that wait or run; one at a time is made",
  ),
  SEALOOP_LIMIT_MEDIA_BYTES: count(
    20_000_000_000,
    "Bytes of the files of a tenant, cards of posts apart; nothing more is made for it beyond them",
  ),
  SEALOOP_LIMIT_STREAMS: count(10, "Open streams of the feed of a key, at each gateway"),
  SEALOOP_LIMIT_SIMULATE: count(10, "Simulations of attacks a minute of a key"),
  SEALOOP_LIMIT_HEARTBEATS: count(240, "Heartbeats a minute of a device"),
  SEALOOP_LIMIT_STATEMENTS: count(
    600,
    "Statements about commands that a device has sealed a minute",
  ),
};
