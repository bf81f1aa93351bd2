/** Access tokens of people: what the people file gives their person, narrowed by the token. */
import {
  type AccessTokens,
  callerOf,
  type FailureLimiter,
  resourceMetadataUrl,
  TOKEN_SCOPES,
} from "../../calls/mod.ts";
import { Problem, type Scope } from "../../contract/mod.ts";
import { type OidcClient, OidcRefused, OidcUnreachable } from "../../integrations/oidc/mod.ts";
import { findKeyOfPerson } from "../../store/keys/mod.ts";
import type { Store } from "../../store/mod.ts";
import { type Grant, grantOf, groupsOf } from "./people_file.ts";
import { currentPeopleFile } from "./people_file_in_force.ts";

/** The parts that access tokens are checked with. */
interface TokenParts {
  readonly oidc: OidcClient;
  readonly store: Store;
  readonly failures: FailureLimiter;
  /** Address of the tool server's `/mcp`. */
  readonly resource: string;
  /** Address of the gateway, where people sign in. */
  readonly gateway: string;
}

/** Opens the check of access tokens. Nothing is connected. */
export function openAccessTokens(parts: TokenParts): AccessTokens {
  const { oidc: { issuer }, store, resource, gateway } = parts;
  const db = store.asPlatform();
  return {
    resource,
    issuer,
    async find(token, address) {
      const { subject, claims } = await read(parts, token, address);
      const scope = scopeOf(claims.scope, resource);
      const file = await currentPeopleFile(db);
      const groups = file ? groupsOf(file, claims) : [];
      const grant = file && grantOf(file, { issuer, subject, groups });
      if (!grant) throw givenNothing(subject, groups);
      const key = await findKeyOfPerson(db, { issuer, subject, tenant: grant.tenant });
      if (!key) {
        throw new Problem(
          "Forbidden",
          `The person of this token has no valid key: they have to sign in at ${gateway}/console once, ` +
            "or their key was revoked",
        );
      }
      const { tier, scope: keyScope } = key;
      return {
        ...callerOf(key, address),
        tier: grant.rights.includes("operate") ? tier : "partner",
        scope: scope === "full" && changes(grant) ? keyScope : "audit",
        mayApprove: false, // no token is a person's own decision, whoever its person is
      };
    },
  };
}

async function read({ oidc, failures, resource }: TokenParts, token: string, address: string) {
  try {
    return await oidc.readAccessToken(token, resource);
  } catch (cause) {
    if (cause instanceof OidcUnreachable) {
      throw new Problem("Unavailable", `${cause.message}; keys of agents work meanwhile`, {
        cause,
      });
    }
    if (!(cause instanceof OidcRefused)) throw cause;
    failures.check(address, "wrong tokens");
    failures.count(address);
    throw new Problem("Unauthenticated", cause.message, { cause });
  }
}

/** Returns the widest scope that a token has. @throws {Problem} `Forbidden`: it has none */
function scopeOf(claim: unknown, resource: string): Scope {
  const has = typeof claim === "string" ? claim.split(" ") : [];
  if (has.includes(TOKEN_SCOPES.full)) return "full";
  if (has.includes(TOKEN_SCOPES.audit)) return "audit";
  const scopes = Object.values(TOKEN_SCOPES);
  const challenge = {
    error: "insufficient_scope",
    scope: scopes.join(" "),
    resource_metadata: resourceMetadataUrl(resource),
  };
  const parameters = Object.entries(challenge).map(([name, value]) => `${name}="${value}"`);
  throw new Problem("Forbidden", `This token has no scope here: it needs ${scopes.join(" or ")}`, {
    headers: { "www-authenticate": `Bearer ${parameters.join(", ")}` },
  });
}

/** Returns whether a person may do more than read. */
const changes = ({ rights }: Grant) => rights.some((right) => right !== "read");

function givenNothing(subject: string, groups: readonly string[]): Problem {
  const named = groups.length > 0 ? "nor to a group that the token names" : "and it names no group";
  return new Problem(
    "Forbidden",
    `The people file gives nothing to the person of this token (subject ${
      JSON.stringify(subject)
    }), ${named}`,
  );
}
