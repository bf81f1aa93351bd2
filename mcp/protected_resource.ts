/** The tool server as a protected resource of OAuth 2.1: where clients learn which authorization server to ask. */
import type Router from "@koa/router";
import { resourceMetadataUrl, TOKEN_SCOPES, type ToolServerAuth } from "../calls/mod.ts";
import { PRODUCT } from "../contract/domain/mod.ts";
import type { RequestState } from "../runtime/web/mod.ts";

const ROOT = "/.well-known/oauth-protected-resource";

/**
 * Binds the metadata, below the path of the resource and at the root, where clients look next.
 *
 * @see RFC 9728
 */
export function bindProtectedResource(
  router: Router<RequestState>,
  { tokens }: Pick<ToolServerAuth, "tokens">,
): void {
  if (!tokens) return;
  const metadata = {
    resource: tokens.resource,
    authorization_servers: [tokens.issuer],
    scopes_supported: Object.values(TOKEN_SCOPES),
    bearer_methods_supported: ["header"],
    resource_name: PRODUCT,
  };
  for (const path of [new URL(resourceMetadataUrl(tokens.resource)).pathname, ROOT]) {
    router.get("protected-resource", path, (ctx) => {
      ctx.set("cache-control", "public, max-age=60");
      ctx.body = metadata;
    });
  }
}

/**
 * Returns the header `WWW-Authenticate` of a request that was not authenticated. Clients find the metadata by it.
 *
 * @param wasSent true: the request had a key or token, which does not count
 */
export function challengeOf({ tokens }: Pick<ToolServerAuth, "tokens">, wasSent: boolean): string {
  if (!tokens) return "Bearer";
  const error = wasSent ? `error="invalid_token", ` : "";
  return `Bearer ${error}resource_metadata="${resourceMetadataUrl(tokens.resource)}"`;
}
