import { type Allowance, type Caller, Problem } from "../contract/mod.ts";
import type { AccessTokens } from "./access_tokens.ts";
import { authenticate } from "./authenticate.ts";
import { refuseApprover } from "./authorize.ts";
import { countToolRequest } from "./limit.ts";
import type { Platform } from "./platform.ts";
import { type AgentAction, sealAction } from "./record.ts";

/** The stages of a call for the tool server's requests that call no operation, such as opening a session. */
export interface ToolServerAuth {
  /** The access tokens that are taken besides keys; undefined: none. */
  readonly tokens: Pick<AccessTokens, "resource" | "issuer"> | undefined;
  /**
   * Returns who calls; from the cache for a key that was seen before.
   *
   * @throws {Problem} `Unauthenticated`: there is no key, or it is unknown, revoked or expired; `Forbidden`: it may
   * approve; those of {@linkcode AccessTokens.find}
   */
  authenticate(credential: string | undefined, address: string): Promise<Caller>;
  /** Counts one request of the key's minute. @throws {Problem} `RateLimited` */
  count(caller: Caller): Promise<Allowance>;
  /** Seals an action that is no call of an operation. @returns id of the receipt */
  record(action: AgentAction): Promise<string>;
}

/** Returns the stages for this platform; requests are counted in the same minute as calls of tools. */
export function createToolServerAuth(platform: Platform): ToolServerAuth {
  return {
    tokens: platform.accessTokens,
    async authenticate(credential, address) {
      if (credential === undefined) {
        throw new Problem(
          "Unauthenticated",
          `The tool server needs an API key${
            platform.accessTokens ? " or an access token" : ""
          }: send Authorization: Bearer <key>`,
        );
      }
      const request = { credential, token: undefined, address };
      const caller = await authenticate(platform, { access: "key" }, request);
      refuseApprover(caller);
      return caller;
    },
    count: (caller) => countToolRequest(platform, caller),
    record: (action) => sealAction(platform.sealer, action),
  };
}
