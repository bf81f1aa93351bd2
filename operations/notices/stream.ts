import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type Context, type Follower, operation, type View } from "../../calls/mod.ts";
import { EventStream, isDatabaseAway, Problem, type StreamEvent } from "../../contract/mod.ts";
import type { Db } from "../../store/mod.ts";
import { findValidKeys } from "../../store/keys/mod.ts";
import { isSessionOpen } from "../../store/people/mod.ts";
import {
  getNewestPosition,
  getPositionBefore,
  listMessagesAfter,
  type Message,
} from "../../store/notices/mod.ts";
import { ApprovalId, approvalOwner } from "../approvals/mod.ts";
import { exampleMessage, toMessage } from "./_message.ts";
import { findSince, Since } from "./_since.ts";

/** Messages that are read at once. A stream holds no more in memory. */
const PAGE_SIZE = 50;
/** Pause after which a stream without messages shows that it lives, and reads whatever it was told. */
const HEARTBEAT_MS = 15_000;
/** Pause before another attempt while the database is away. */
const RETRY_MS = 1_000;

/** Messages of the caller's tenant, as they come. */
export const messageStream = operation({
  name: "comms.stream",
  group: "people",
  summary: "Follow your organization's feed as server-sent events",
  description:
    "The data of each event is a message as in `GET /v1/comms`, and its `kind` says what it tells. The `id` of an event is " +
    "its place: a client that sends it as `Last-Event-ID` misses nothing and gets nothing twice, whatever happened " +
    "meanwhile. Without it, and without `since`, the stream begins with the next message; with 0 it begins with the first. The first event, " +
    "`position`, has the place at which it begins. Lines with a colon come while there is no message. The stream ends " +
    "when the key is no longer valid, or the person signs out. With `viewing`, the event `viewers` has the names of those who " +
    "have the page of that approval open, the caller's among them, at first and after each change; who leaves is gone within " +
    "seconds. Nothing of it is stored.",
  effect: "read",
  access: "key",
  input: z.object({
    last_event_id: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe(
      "Place after which the stream begins",
    ),
    since: Since.optional().describe(
      "Where the stream begins if there is no `Last-Event-ID`: after this message, by its id, or with the first that was " +
        "written at this time or later",
    ),
    viewing: ApprovalId.optional().describe("Approval whose page is open where this is read"),
  }),
  output: z.string(),
  rest: { comms_stream: "GET /v1/comms/stream" },
  presentation: {
    errors: ["NotFound"],
    untrusted: true,
    media: "text/event-stream",
    headers: { last_event_id: "Last-Event-ID" },
  },
  example: {
    input: { last_event_id: 0 },
    output: `id: 1\ndata: ${JSON.stringify(exampleMessage)}\n\n`,
  },
  run: async ({ last_event_id, since, viewing }, { store, caller, feed, signal }) => {
    const view = viewing === undefined ? undefined : await viewOf(store, caller, viewing);
    const newest = await getNewestPosition(store.db);
    // A place that is not reached yet is of a database that was restored from a backup since.
    const begin = last_event_id ?? await findBegin(store.db, since);
    const position = Math.min(begin ?? newest, newest);
    const follower = await feed.follow(store.tenant, caller.keyId!, view);
    signal.addEventListener("abort", follower.stop, { once: true });
    if (signal.aborted) follower.stop();
    const reader = { db: store.db, caller, follower, signal, viewing };
    return new EventStream(readFeed(reader, position));
  },
});

/** Returns the position before the first message that is meant; undefined: it is the next one that comes. */
async function findBegin(db: Db, since: string | undefined): Promise<number | undefined> {
  const { after, from } = await findSince(db, since);
  return from === undefined ? after : await getPositionBefore(db, from);
}

/** Returns what a caller has open. @throws {Problem} `NotFound`: it is not theirs to see */
async function viewOf(
  store: Context["store"],
  { tenant, tier, principal }: Context["caller"],
  id: string,
): Promise<View> {
  const owner = await approvalOwner({ approval_id: id }, { store });
  if (owner !== undefined && (owner === tenant || tier === "admin")) {
    return { topic: `${owner}/${id}`, name: principal };
  }
  throw new Problem("NotFound", `There is no approval ${id}`);
}

interface Reader extends Pick<Context, "caller" | "signal"> {
  readonly db: Db;
  readonly follower: Follower;
  readonly viewing: string | undefined;
}

/** Returns whether a caller may go on listening: their key is valid, and they have not signed out. */
async function mayListen({ db, caller: { keyId, session } }: Reader): Promise<boolean> {
  if (session && !await isSessionOpen(db, session.id)) return false;
  return (await findValidKeys(db, [keyId!])).length > 0;
}

/** Reads messages after a position for as long as the client is there and may listen, and the process goes on. */
async function* readFeed(reader: Reader, begin: number): AsyncGenerator<StreamEvent> {
  const { db, follower, signal, viewing } = reader;
  let position = begin;
  let checkedMs = 0;
  try {
    // A client that loses the connection before the first message continues here.
    yield { event: "position", id: String(position), data: JSON.stringify({ position }) };
    while (!signal.aborted && !follower.closing) {
      try {
        if (follower.news.keys || performance.now() - checkedMs >= HEARTBEAT_MS) {
          if (!await mayListen(reader)) return;
          checkedMs = performance.now();
        }
        const isViewed = viewing !== undefined && follower.news.viewers;
        follower.clearNews(); // what comes from now on may not be in what is read
        if (isViewed) {
          const people = follower.viewers();
          yield { event: "viewers", data: JSON.stringify({ approval_id: viewing, people }) };
        }
        const page = await listMessagesAfter(db, position, PAGE_SIZE);
        for (const message of page) {
          yield toEvent(message);
          position = message.position;
          if (follower.news.keys) break;
        }
        const isMore = page.length === PAGE_SIZE || follower.news.keys;
        if (!isMore && !await follower.wait(HEARTBEAT_MS)) yield {};
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
        await sleep(RETRY_MS);
      }
    }
  } finally {
    follower.stop();
  }
}

function toEvent(message: Message): StreamEvent {
  return {
    id: String(message.position),
    data: JSON.stringify(toMessage(message)),
  };
}
