/** An identity provider of a test: a real one, in this process, which signs in whoever the test says. */
import { generateKeyPairSync, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";

/** Somebody with an account there. */
interface Account {
  readonly sub: string;
  readonly preferred_username?: string;
  readonly groups?: readonly string[];
}

type Claims = Record<string, unknown>;

/** A provider that listens. */
export interface TestProvider {
  readonly issuer: string;
  /** Signs this person in from now on. */
  signsIn(account: Account): void;
  /** Changes the ID tokens from now on; they are signed as ever. */
  alters(change: (claims: Claims) => Claims): void;
  /** Issues an access token with these claims besides issuer and times, by the key that it signs by now. */
  accessToken(claims: Claims): string;
  /** Signs tokens by a key that it does not publish, or by its own one again. */
  signsByAnotherKey(does: boolean): void;
  /** Number of requests for tokens so far. */
  readonly exchanges: number;
  /** Number of times that somebody had to show who they are. */
  readonly logins: number;
  stop(): Promise<void>;
}

const newKey = () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

/** Starts one with a client. @param signedOutUri where the client may send people who sign out @param port default: any */
export async function startProvider(
  client: {
    readonly id: string;
    readonly secret: string;
    readonly redirectUri: string;
    readonly signedOutUri?: string;
    /** A public client of a program that gets access tokens for resources, and where it is sent back to. */
    readonly agent?: { readonly id: string; readonly redirectUri: string };
  },
  port = 0,
): Promise<TestProvider> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [key, another] = [newKey(), newKey()];
  let account: Account = { sub: "nobody" };
  let change = (claims: Claims) => claims;
  let signingKey = key;
  let [exchanges, logins] = [0, 0];
  const agents = client.agent
    ? [{
      client_id: client.agent.id,
      redirect_uris: [client.agent.redirectUri],
      token_endpoint_auth_method: "none" as const,
      response_types: ["code" as const],
      grant_types: ["authorization_code"],
    }]
    : [];
  const provider = new Provider(issuer, {
    clients: [{
      client_id: client.id,
      client_secret: client.secret,
      redirect_uris: [client.redirectUri],
      post_logout_redirect_uris: client.signedOutUri ? [client.signedOutUri] : [],
      token_endpoint_auth_method: "client_secret_post",
      response_types: ["code"],
      grant_types: ["authorization_code"],
    }, ...agents],
    jwks: { keys: [{ ...key.export({ format: "jwk" }), kid: "one", use: "sig", alg: "RS256" }] },
    cookies: { keys: ["of a test"] },
    claims: { openid: ["sub"], profile: ["preferred_username", "groups"], email: ["email"] },
    extraTokenClaims: () => ({ groups: account.groups ?? [] }),
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: "sealoop:audit sealoop:full",
          audience: resource,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
      rpInitiatedLogout: { enabled: client.signedOutUri !== undefined },
    },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ ...account }) }),
    async loadExistingGrant(ctx) {
      const { client, session, params } = ctx.oidc;
      const grant = new ctx.oidc.provider.Grant({
        clientId: client!.clientId,
        accountId: session!.accountId!,
      });
      grant.addOIDCScope(String(params!.scope));
      if (params!.resource) grant.addResourceScope(String(params!.resource), String(params!.scope));
      await grant.save();
      return grant;
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    ttl: { Session: 600, Interaction: 600, Grant: 600, IdToken: 600, AccessToken: 600 },
  });
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.oidc?.route !== "token") return;
    exchanges++;
    const body = ctx.body as { id_token?: string };
    if (body.id_token) body.id_token = resign(body.id_token);
  });

  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

  /** Signs a token anew, with its claims changed. */
  function resign(token: string): string {
    const [header, payload] = token.split(".");
    const claims = JSON.parse(Buffer.from(payload!, "base64url").toString()) as Claims;
    return signed(header!, change(claims));
  }

  function signed(header: string, claims: Claims): string {
    const text = `${header}.${encode(claims)}`;
    return `${text}.${sign("sha256", Buffer.from(text), signingKey).toString("base64url")}`;
  }

  const serve = provider.callback();
  server.on("request", (req, res) => {
    if (!req.url!.startsWith("/interaction/")) return void serve(req, res);
    logins++;
    const login = { accountId: account.sub };
    provider.interactionFinished(req, res, { login }).catch((error: Error) => {
      res.statusCode = 500;
      res.end(error.message);
    });
  });
  return {
    issuer,
    signsIn: (next) => void (account = next),
    alters: (next) => void (change = next),
    accessToken(claims) {
      const now = Math.floor(Date.now() / 1_000);
      const header = encode({ typ: "at+jwt", alg: "RS256", kid: "one" });
      return signed(header, { iss: issuer, iat: now, exp: now + 600, ...claims });
    },
    signsByAnotherKey: (does) => void (signingKey = does ? another : key),
    get exchanges() {
      return exchanges;
    },
    get logins() {
      return logins;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
