import assert from "node:assert/strict";
import { a2aWorld, type Json } from "./_a2a.ts";

describe("A2A's agent card", () => {
  const a2a = a2aWorld();
  const { ask } = a2a;

  it("is true for clients of both versions", async () => {
    const read = async (name: string) =>
      await (await fetch(`${a2a.server.url}/.well-known/${name}`)).json() as Json;
    const card = await read("agent-card.json");
    assert.deepEqual(await read("agent.json"), card);
    const { protocolVersion, preferredTransport, url, capabilities, securitySchemes } = card;
    assert.deepEqual({ protocolVersion, preferredTransport, url }, {
      protocolVersion: "0.3.0",
      preferredTransport: "JSONRPC",
      url: `${a2a.server.url}/a2a`,
    });
    assert.equal(capabilities.streaming, true);
    assert.equal(capabilities.pushNotifications, false);
    assert.equal(capabilities.extendedAgentCard, true);
    assert.equal(securitySchemes.bearer.scheme, "bearer");
    const { tools } = await (await fetch(`${a2a.server.url}/mcp/tools`)).json() as Json;
    const names = (all: Json[], field: string) => all.map((one) => one[field]).sort();
    assert.deepEqual(names(card.skills, "id"), names(tools, "name"));
    for (const { id, examples } of card.skills) {
      const { skill, arguments: given } = JSON.parse(examples[0]);
      const { properties } = tools.find(({ name }: Json) => name === id).inputSchema;
      assert.equal(skill, id);
      assert.deepEqual(Object.keys(given).filter((name) => !(name in properties)), [], id);
    }
  });

  it("is at every usual address, and lists to a key the skills that it reaches", async () => {
    const get = (path: string, as?: string) =>
      fetch(a2a.server.url + path, { headers: as ? { authorization: `Bearer ${as}` } : {} });
    const open = await (await get("/.well-known/agent-card.json")).json() as Json;
    assert.equal(open.supportsAuthenticatedExtendedCard, true);
    assert.deepEqual(await (await get("/a2a")).json(), open);
    const audit = (await a2a.server.key({ scope: "audit" })).key;
    const { result } = await ask("agent/getAuthenticatedExtendedCard", undefined, audit);
    assert.equal(result.skills.length, 6);
    assert.ok(open.skills.length > 40);
    for (const path of ["/a2a/card", "/agent/authenticatedExtendedCard"]) {
      assert.deepEqual(await (await get(path, audit)).json(), result);
      for (const wrong of [undefined, "slp_partner_wrong"]) {
        const { status, headers } = await get(path, wrong);
        assert.deepEqual([status, headers.get("www-authenticate")], [401, "Bearer"]);
      }
    }
  });

  it("is not sent again to clients that have cached it", async () => {
    const address = `${a2a.server.url}/.well-known/agent-card.json`;
    const etag = (await fetch(address)).headers.get("etag")!;
    const headers = { "if-none-match": etag, "cache-control": "max-age=60" };
    const again = await fetch(address, { headers });
    assert.deepEqual([again.status, await again.text()], [304, ""]);
  });

  it("holds no secrets, and no words that checkers take for one", async () => {
    const named = a2a.server.url.replace("127.0.0.1", "localhost");
    const { skills, ...card } = await (await fetch(`${named}/a2a`)).json() as Json;
    const secret = /api[_-]?key|secret|token|password|credential|127\.0\.0\.1/i;
    for (const part of [card, ...skills]) assert.doesNotMatch(JSON.stringify(part), secret);
    const inner = /(internal|private|admin|debug|test).*(?:url|endpoint|host)/i;
    assert.doesNotMatch(JSON.stringify({ ...card, skills }), inner);
  });
});
