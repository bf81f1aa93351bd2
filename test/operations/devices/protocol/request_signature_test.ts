import assert from "node:assert/strict";
import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import type { SignedRequest } from "../../../../contract/mod.ts";
import { buildSignatureBase, readSigner, verifySigned } from "../../../../calls/mod.ts";

describe("buildSignatureBase()", () => {
  it("gives the text that RFC 9421 signs in its example B.2.6", () => {
    const parameters = '("date" "@method" "@path" "@authority" "content-type" "content-length")' +
      ';created=1618884473;keyid="test-key-ed25519"';
    const base = buildSignatureBase([
      ["date", "Tue, 20 Apr 2021 02:07:55 GMT"],
      ["@method", "POST"],
      ["@path", "/foo"],
      ["@authority", "example.com"],
      ["content-type", "application/json"],
      ["content-length", "18"],
    ], parameters);
    const key = createPublicKey(
      "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=\n-----END PUBLIC KEY-----",
    );
    const signature =
      "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==";
    assert.ok(verify(null, Buffer.from(base), key, Buffer.from(signature, "base64")));
  });
});

describe("verifySigned()", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const publicHex = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
  const sha256 = (text: string) => createHash("sha256").update(text).digest();

  /** Signs a request as the agent does. */
  function signed(parameters?: string, query = "?"): SignedRequest {
    const input = parameters ??
      '("@method" "@path" "@query" "content-digest");nonce="00112233445566778899aabbccddeeff"' +
        ';keyid="DEV-0123456789ab";alg="ed25519";tag="sealoop-device"';
    const bodySha256 = sha256('{"counter":1}');
    const contentDigest = `sha-256=:${bodySha256.toString("base64")}:`;
    const base = buildSignatureBase([
      ["@method", "POST"],
      ["@path", "/v1/shield/devices/heartbeat"],
      ["@query", query],
      ["content-digest", contentDigest],
    ], input);
    return {
      method: "POST",
      path: "/v1/shield/devices/heartbeat",
      query,
      contentDigest,
      signatureInput: `sealoop=${input}`,
      signature: `sealoop=:${sign(null, Buffer.from(base), privateKey).toString("base64")}:`,
      bodySha256,
    };
  }

  it("accepts what the device has signed, and names its signer", () => {
    assert.ok(verifySigned(signed(), publicHex));
    assert.ok(verifySigned(signed(undefined, "?a=1"), publicHex));
    assert.equal(readSigner(signed()), "DEV-0123456789ab");
  });

  const forged: Readonly<Record<string, Partial<SignedRequest>>> = {
    "another method": { method: "GET" },
    "another path": { path: "/v1/shield/devices/heartbeat/" },
    "another query": { query: "?a=1" },
    "another body": { bodySha256: sha256('{"counter":2}') },
    "no digest": { contentDigest: "" },
    "no signature": { signature: "" },
    "another device's name": {
      signatureInput: signed().signatureInput.replace("0123456789ab", "0123456789ac"),
    },
    "two signatures": { signature: `${signed().signature}, ${signed().signature}` },
  };
  for (const [what, change] of Object.entries(forged)) {
    it(`refuses a request with ${what}`, () => {
      assert.equal(verifySigned({ ...signed(), ...change }, publicHex), false);
    });
  }

  it("refuses a signature that leaves out the body, the tag or the algorithm, though it verifies", () => {
    const whole = signed().signatureInput.slice("sealoop=".length);
    for (const part of [' "content-digest"', ';tag="sealoop-device"', ';alg="ed25519"']) {
      const request = signed(whole.replace(part, ""));
      assert.equal(verifySigned(request, publicHex), false, part);
      assert.equal(readSigner(request), undefined, part);
    }
  });

  it("refuses the signature of another key", () => {
    const other = generateKeyPairSync("ed25519").publicKey
      .export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
    assert.equal(verifySigned(signed(), other), false);
  });
});
