/** A Mastodon of a test: the part of its API that is used, in its documented shapes, with what was posted. */
import { JSON_TYPE, startHostileServer } from "../../integrations/remote/_hostile.ts";

/**
 * Way in which it takes the next post. `lost`: it is posted, and the connection ends without an answer; `held`: it is posted,
 * and no answer comes; `swallowed`: it is not posted, and no answer comes.
 */
export type TakingPost = "done" | "lost" | "held" | "swallowed" | "refused";

/** The server of a test. */
export interface TestMastodon {
  readonly url: string;
  /** Requests to post, as they came. */
  readonly asked: { readonly headers: Record<string, unknown>; readonly body: string }[];
  /** Texts that were posted, newest first. */
  posts(): string[];
  /** Posts as a person who uses the account. */
  postByHand(text: string, at: Date): void;
  /** Set before a post. */
  taking: TakingPost;
  close(): void;
}

const ACCOUNT = { id: "14715", username: "ops", acct: "ops", url: "https://social.example/@ops" };

interface Status {
  readonly id: string;
  readonly text: string;
  readonly created_at: string;
  readonly key?: unknown;
}

/** Starts it. @param token that it accepts */
export async function startMastodon(token: string): Promise<TestMastodon> {
  const server = await startHostileServer();
  const statuses: Status[] = [];
  const add = (text: string, at: Date, key?: unknown): Status => {
    const status = {
      id: String(110_000_000_000_000_000n + BigInt(statuses.length)),
      text,
      created_at: at.toISOString(),
      key,
    };
    statuses.unshift(status);
    return status;
  };
  const mastodon: TestMastodon = {
    url: server.url,
    asked: [],
    posts: () => statuses.map(({ text }) => text),
    postByHand: (text, at) => void add(text, at),
    taking: "done",
    close: server.close,
  };
  server.answer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const send = (status: number, answer: unknown) =>
      void response.writeHead(status, JSON_TYPE).end(JSON.stringify(answer));
    if (request.headers.authorization !== `Bearer ${token}`) {
      return send(401, { error: "The access token is invalid" });
    }
    const path = request.url!.replace(/\?.*$/, "");
    if (request.method === "POST" && path === "/api/v1/statuses") {
      mastodon.asked.push({ headers: request.headers, body });
      if (mastodon.taking === "refused") return send(422, { error: "Validation failed" });
      if (mastodon.taking === "swallowed") return;
      const key = request.headers["idempotency-key"];
      const known = statuses.find((status) => status.key === key);
      const posted = known ?? add(JSON.parse(body).status, new Date(), key);
      if (mastodon.taking === "lost") return void response.destroy();
      return mastodon.taking === "held" ? undefined : send(200, shown(posted));
    }
    if (path === "/api/v1/accounts/verify_credentials") return send(200, ACCOUNT);
    if (path === `/api/v1/accounts/${ACCOUNT.id}/statuses`) return send(200, statuses.map(shown));
    const [, id, source] = /^\/api\/v1\/statuses\/(\d+)(\/source)?$/.exec(path) ?? [];
    const status = statuses.find((one) => one.id === id);
    if (!status) return send(404, { error: "Record not found" });
    send(200, source ? { id, text: status.text, spoiler_text: "" } : shown(status));
  });
  return mastodon;
}

function shown({ id, text, created_at }: Status) {
  return {
    id,
    created_at,
    visibility: "public",
    uri: `https://social.example/users/ops/statuses/${id}`,
    url: `https://social.example/@ops/${id}`,
    content: `<p>${text}</p>`,
    reblog: null,
    account: ACCOUNT,
  };
}
