import { createHash } from "node:crypto";
import type Router from "@koa/router";
import type { Platform } from "../calls/mod.ts";
import { Problem } from "../contract/mod.ts";
import { findKeyOfLink, printCalendar } from "../operations/calendar/booking/mod.ts";
import { listEventsSince } from "../store/calendar/mod.ts";
import type { RequestState } from "../runtime/web/mod.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Days for which past and cancelled events stay. */
const PAST_DAYS = 31;
const MAX_EVENTS = 5_000;
/** Reads of one link in an hour. */
const MAX_READS = 120;

/**
 * Serves the calendar of a key's tenant at the key's link, as iCalendar. Calendar programs can send no key: whoever has the
 * link reads the calendar, until the key ends or the link is renewed.
 */
export function bindCalendarFeed(
  router: Router<RequestState>,
  { store, usage, failures }: Pick<Platform, "store" | "usage" | "failures">,
): void {
  const path = "/calendar/:link.ics";
  router.get(path, path, async (ctx) => {
    const { address } = ctx.state;
    failures.check(address, "wrong links");
    const key = await findKeyOfLink(store, ctx.params.link!);
    if (!key) {
      failures.count(address);
      throw new Problem(
        "NotFound",
        "There is no such calendar; GET /v1/calendar/events gives its address as feed_url",
      );
    }
    ctx.state.keyId = key.id;
    const use = { subject: key.id, kind: "calendar", limit: MAX_READS, periodSeconds: 3_600 };
    const { allowed, resetSeconds } = await usage.count(use);
    if (!allowed) {
      throw new Problem(
        "RateLimited",
        `This calendar was read ${MAX_READS} times within the hour; try again in ${resetSeconds} s`,
        { headers: { "retry-after": String(resetSeconds) } },
      );
    }
    const now = new Date();
    const since = new Date(now.getTime() - PAST_DAYS * DAY_MS);
    const events = await listEventsSince(store.asTenant(key.tenant), since, MAX_EVENTS);
    const text = printCalendar(`sealoop ${key.tenant}`, events, now);
    const etag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"`;
    ctx.set({ "cache-control": "private, no-cache", etag, "x-robots-tag": "noindex" });
    if (ctx.get("if-none-match").includes(etag)) {
      ctx.status = 304;
      return;
    }
    ctx.type = "text/calendar; charset=utf-8";
    ctx.body = text;
  });
}
