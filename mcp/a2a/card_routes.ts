import { createHash } from "node:crypto";
import type Router from "@koa/router";
import type { Context } from "koa";
import type { RequestState } from "../../runtime/web/mod.ts";
import { authenticate, type Sender } from "../auth.ts";
import { createSealWork } from "./_seal.ts";
import { type AgentCard, createCard, toWireCard } from "./card.ts";
import type { A2aHandlerParts } from "./handlers.ts";

/** The parts that cards are made of. */
export interface CardParts<C> extends Pick<A2aHandlerParts<C>, "tools" | "auth"> {
  /** Public address of the tool server, without a slash at the end; default: the one that the client used. */
  readonly url: string | undefined;
  /** Public address of the gateway; default: the tool server's. */
  readonly gatewayUrl: string | undefined;
}

/** The method of JSON-RPC that returns the card of a key. */
export const KEY_CARD_METHOD = "agent/getAuthenticatedExtendedCard";

/** Binds the routes of the card for everybody and of the card for a key, which lists the skills that the key reaches. */
export function bindCards<C>(router: Router<RequestState>, parts: CardParts<C>): void {
  const sendPublicCard = (ctx: Context) => sendCard(ctx, cardFor(parts, ctx));
  router.get("a2a-card", "/a2a", sendPublicCard);
  for (const base of ["", "/a2a"]) {
    router.get("agent-card", `${base}/.well-known/agent-card.json`, sendPublicCard);
    router.get("agent", `${base}/.well-known/agent.json`, sendPublicCard);
  }

  const sendKeyCard = async (ctx: Context) => {
    const sender = await authenticate(ctx, parts.auth);
    await parts.auth.count(sender.caller);
    const seal = createSealWork(parts.auth, sender.caller);
    await seal(KEY_CARD_METHOD, {}, () => Promise.resolve());
    ctx.set("cache-control", "no-store");
    ctx.type = "application/json; charset=utf-8";
    ctx.body = toWireCard(cardFor(parts, ctx, sender));
  };
  router.get("own-card", "/a2a/card", sendKeyCard);
  router.get("extended-card", "/agent/authenticatedExtendedCard", sendKeyCard);
}

/** Returns the card for a sender. @param sender absent: everybody */
export function cardFor<C>(
  { tools, url, gatewayUrl }: Pick<CardParts<C>, "tools" | "url" | "gatewayUrl">,
  ctx: Context,
  sender?: Sender,
): AgentCard {
  const reachable = sender
    ? new Map([...tools].filter(([, { scopes }]) => scopes.includes(sender.caller.scope)))
    : tools;
  const ownUrl = url ?? `${ctx.protocol}://${ctx.host}`;
  return createCard(reachable, { tools: ownUrl, gateway: asSeenBy(ctx, gatewayUrl ?? ownUrl) });
}

function sendCard(ctx: Context, card: AgentCard): void {
  const json = JSON.stringify(toWireCard(card));
  ctx.set("cache-control", "public, max-age=60");
  ctx.etag = createHash("sha256").update(json).digest("base64url").slice(0, 27);
  ctx.status = 200;
  if (ctx.fresh) return void (ctx.status = 304);
  ctx.type = "application/json; charset=utf-8";
  ctx.body = json;
}

/** Returns a loopback address with the name by which the client reached this machine. */
function asSeenBy({ hostname }: Context, address: string): string {
  const url = new URL(address);
  if (url.hostname === "127.0.0.1") url.hostname = hostname;
  return url.href.replace(/\/$/, "");
}
