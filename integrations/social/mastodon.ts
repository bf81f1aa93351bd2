import { z } from "zod";
import type { Config } from "../../config.ts";
import { readCredential } from "../channels/mod.ts";
import { openRemoteClient, type RemoteClient, RemoteFailed } from "../remote/mod.ts";

/** A post that the server shows. */
interface PublishedPost {
  readonly id: string;
  /** Address of its page for people; null: the server tells none. */
  readonly url: string | null;
}

/** An account on a Mastodon server, or on another one that speaks its API. */
export interface MastodonClient {
  /** Where it posts, for people: scheme and host. */
  readonly server: string;
  /** Posts for everybody, with one attempt. @param actId the same key never makes a second post @throws {RemoteFailed} */
  post(text: string, actId: string): Promise<string>;
  /** Returns the account's post; undefined: there is none of this id and text. @throws {RemoteFailed} */
  readPost(id: string, text: string): Promise<PublishedPost | undefined>;
  /** Finds the account's post by its text; undefined: none is listed. @throws {RemoteFailed} */
  findPost(text: string, since: Date): Promise<PublishedPost | undefined>;
}

const PAGE = 40;
const MAX_PAGES = 5;
/** Largest difference between its clock and ours. An older post of the same text is another one. */
const CLOCK_SKEW_MS = 5_000;

const Id = z.string().regex(/^[\w-]{1,64}$/);
const Account = z.object({ id: Id });
const Status = z.object({
  id: Id,
  url: z.url({ protocol: /^https?$/ }).max(2_000).nullish().catch(null),
  created_at: z.iso.datetime({ offset: true }),
  account: Account,
});
/** The text as it was sent; the server gives it to the account that wrote it, and to nobody else. */
const Source = z.object({ id: Id, text: z.string() });

/** Opens the client of a Mastodon, if its URL is set. @see https://docs.joinmastodon.org/methods/statuses/ */
export function openMastodon(config: Config): MastodonClient | undefined {
  const { SEALOOP_MASTODON_URL: url } = config.settings;
  if (url === undefined) return undefined;
  const api = openRemoteClient({
    system: "Mastodon",
    url,
    credential: () => ({ authorization: `Bearer ${readCredential(config, "mastodon")}` }),
  });
  return {
    server: new URL(url).origin,
    async post(text, actId) {
      const { id } = await api.act({
        method: "POST",
        path: "/api/v1/statuses",
        headers: { "idempotency-key": actId },
        body: { status: text, visibility: "public" },
        answer: z.object({ id: Id }),
      });
      return id;
    },
    async readPost(id, text) {
      const path = `/api/v1/statuses/${encodeURIComponent(id)}`;
      const post = await unlessMissing(api.read({ method: "GET", path, answer: Status }));
      return post && await hasText(api, post, text) ? toPost(post) : undefined;
    },
    findPost: (text, since) => findPost(api, text, since),
  };
}

async function findPost(
  api: RemoteClient,
  text: string,
  since: Date,
): Promise<PublishedPost | undefined> {
  const from = since.getTime() - CLOCK_SKEW_MS;
  const { id: account } = await api.read({
    method: "GET",
    path: "/api/v1/accounts/verify_credentials",
    answer: Account,
  });
  let before = "";
  for (let n = 0; n < MAX_PAGES; n++) {
    const posts = await api.read({
      method: "GET",
      path: `/api/v1/accounts/${account}/statuses?exclude_reblogs=true&limit=${PAGE}${before}`,
      answer: z.array(Status),
    });
    for (const post of posts) {
      if (Date.parse(post.created_at) < from) return undefined;
      if (await hasText(api, post, text)) return toPost(post);
    }
    if (posts.length < PAGE) return undefined;
    before = `&max_id=${posts.at(-1)!.id}`;
  }
  return undefined;
}

/** Reads the text of a post, which only its own account may. */
async function hasText(
  api: RemoteClient,
  { id }: z.output<typeof Status>,
  text: string,
): Promise<boolean> {
  const path = `/api/v1/statuses/${encodeURIComponent(id)}/source`;
  const source = await unlessMissing(api.read({ method: "GET", path, answer: Source }));
  return source !== undefined && plain(source.text) === plain(text);
}

/** Servers may change the ends of lines, and take blanks at the ends away. */
const plain = (text: string) => text.replaceAll("\r\n", "\n").trim();

const toPost = ({ id, url }: z.output<typeof Status>): PublishedPost => ({ id, url: url ?? null });

async function unlessMissing<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RemoteFailed && error.code === "refused") return undefined;
    throw error;
  }
}
