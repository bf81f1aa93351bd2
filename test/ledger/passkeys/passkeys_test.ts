import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import type { Assertion, Passkey } from "../../../contract/domain/mod.ts";
import {
  challengeOf,
  type Expected,
  shownLines,
  statementOf,
  verifyAssertion,
  verifyRegistration,
} from "../../../ledger/passkeys/mod.ts";
import { NODE_PRIMITIVES } from "../../../ledger/crypto/mod.ts";
import { NOBLE } from "../../../ledger/page/checks/mod.ts";
import { type Algorithm, createAuthenticator, type Deviations } from "./_authenticator.ts";

const RP_ID = "localhost";
const ORIGIN = "http://localhost:8080";
const ALGORITHMS: readonly Algorithm[] = ["ES256", "RS256", "EdDSA"];

const expectedOf = (challenge: string): Expected => ({
  challenge,
  rpId: RP_ID,
  origins: [ORIGIN],
});
const newChallenge = () => randomBytes(32).toString("base64url");

/** An authenticator whose passkey is known. */
function enrolled(algorithm: Algorithm = "ES256") {
  const authenticator = createAuthenticator(RP_ID, ORIGIN, algorithm);
  const challenge = newChallenge();
  const registration = authenticator.register(challenge);
  const passkey = verifyRegistration(NODE_PRIMITIVES, registration, expectedOf(challenge));
  return { authenticator, registration, challenge, passkey };
}

describe("passkeys", () => {
  for (const algorithm of ALGORITHMS) {
    it(`verify ${algorithm}, as another implementation and the browser's code do`, async () => {
      const { authenticator, registration, challenge: first, passkey } = enrolled(algorithm);
      const common = {
        expectedOrigin: ORIGIN,
        expectedRPID: RP_ID,
        requireUserVerification: true,
      };
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        ...common,
        expectedChallenge: first,
        supportedAlgorithmIDs: [-7, -8, -257],
        response: {
          id: registration.credential_id,
          rawId: registration.credential_id,
          type: "public-key",
          clientExtensionResults: {},
          response: {
            clientDataJSON: registration.client_data,
            attestationObject: registration.attestation,
          },
        },
      });
      assert.ok(verified);
      const challenge = newChallenge();
      const assertion = authenticator.assert(challenge);
      const expected = expectedOf(challenge);
      assert.equal(await verifyAssertion(NODE_PRIMITIVES, assertion, passkey, expected), 2);
      assert.equal(await verifyAssertion(NOBLE, assertion, passkey, expected), 2);
      const second = await verifyAuthenticationResponse({
        ...common,
        expectedChallenge: challenge,
        credential: { ...registrationInfo!.credential, counter: 1 },
        response: {
          id: assertion.credential_id,
          rawId: assertion.credential_id,
          type: "public-key",
          clientExtensionResults: {},
          response: {
            clientDataJSON: assertion.client_data,
            authenticatorData: assertion.authenticator_data,
            signature: assertion.signature,
          },
        },
      });
      assert.ok(second.verified);
    });
  }

  it("refuse each changed byte", async () => {
    const { authenticator, passkey } = enrolled();
    const challenge = newChallenge();
    const assertion = authenticator.assert(challenge);
    for (const field of ["client_data", "authenticator_data", "signature"] as const) {
      const bytes = Buffer.from(assertion[field], "base64url");
      for (let at = 0; at < bytes.length; at++) {
        const changed = Buffer.from(bytes);
        changed[at]! ^= 1;
        await assertRefused(
          { ...assertion, [field]: changed.toString("base64url") },
          passkey,
          challenge,
        );
      }
      const longer = Buffer.concat([bytes, Buffer.alloc(1)]);
      await assertRefused(
        { ...assertion, [field]: longer.toString("base64url") },
        passkey,
        challenge,
      );
      await assertRefused({ ...assertion, [field]: `${assertion[field]}=` }, passkey, challenge);
    }
  });

  const DEVIATIONS: readonly (readonly [string, Deviations, string])[] = [
    ["another origin's", { origin: "https://localhost:8080" }, "origin"],
    ["a frame's of another origin", { crossOrigin: true }, "origin"],
    ["another site's", { rpId: "example.org" }, "rp_id"],
    ["one without user verification", { flags: 0x01 }, "user_verification"],
    ["one without a person", { flags: 0x04 }, "user_verification"],
    ["a new credential's", { type: "webauthn.create" }, "type"],
    ["a payment's", { type: "payment.get" }, "type"],
  ];
  for (const [what, deviations, code] of DEVIATIONS) {
    it(`refuse ${what}`, async () => {
      const { authenticator, passkey } = enrolled();
      const challenge = newChallenge();
      await assertRefused(authenticator.assert(challenge, deviations), passkey, challenge, code);
    });
  }

  it("refuse the answer to another challenge, and that of another passkey", async () => {
    const { authenticator, passkey } = enrolled();
    const other = enrolled();
    const challenge = newChallenge();
    await assertRefused(authenticator.assert(newChallenge()), passkey, challenge, "challenge");
    await assertRefused(other.authenticator.assert(challenge), passkey, challenge, "credential");
    const posed = {
      ...other.authenticator.assert(challenge),
      credential_id: passkey.credential_id,
    };
    await assertRefused(posed, passkey, challenge, "signature");
  });

  it("refuse a new credential of a weak kind, or about another one", () => {
    const challenge = newChallenge();
    const { authenticator } = enrolled();
    const registration = authenticator.register(challenge);
    const cut = Buffer.from(registration.authenticator_data, "base64url").subarray(0, -1);
    for (
      const [changed, code] of [
        [{ authenticator_data: cut.toString("base64url") }, "algorithm"],
        [{ credential_id: "AAAA" }, "credential"],
      ] as const
    ) {
      assert.throws(
        () =>
          verifyRegistration(
            NODE_PRIMITIVES,
            { ...registration, ...changed },
            expectedOf(challenge),
          ),
        { name: "PasskeyError", code },
      );
    }
  });
});

async function assertRefused(
  assertion: Assertion,
  passkey: Passkey,
  challenge: string,
  code?: string,
): Promise<void> {
  await assert.rejects(
    verifyAssertion(NODE_PRIMITIVES, assertion, passkey, expectedOf(challenge)),
    { name: "PasskeyError", ...(code ? { code } : {}) },
  );
}

describe("what is shown", () => {
  const APPROVAL = {
    approval_id: "APR-5b1e09c77a42",
    subject: "INC-0123456789ab",
    description: "Restart shop\nbecause     it is harmless",
    rule: "runbook_bounds",
    reasons: ["It reaches 5 services"],
    reaches: ["shop", "cart"],
    evidence: [{ kind: "ticket", id: "INC-0123456789ab" }],
    requested_by: "loop",
    tenant_id: "platform",
    needed: 1,
    passkey: false,
    action: { steps: [{ argv: ["systemctl", "restart", "shop"] }], runbook: "restart\u202eed" },
    action_commitment: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
  };

  it("is the same lines wherever it is shown, and no text passes for another field", () => {
    assert.deepEqual(shownLines(APPROVAL), [
      "approval    APR-5b1e09c77a42",
      "asks for    Restart shop",
      "            because     it is harmless",
      "because     It reaches 5 services",
      "rule        runbook_bounds",
      "reaches     shop",
      "            cart",
      "evidence    ticket INC-0123456789ab",
      "asked by    loop of platform",
      "needs       one person",
      "action      {",
      '              "runbook": "restart⟨U+202E⟩ed",',
      '              "steps": [',
      "                {",
      '                  "argv": [',
      '                    "systemctl",',
      '                    "restart",',
      '                    "shop"',
      "                  ]",
      "                }",
      "              ]",
      "            }",
    ]);
  });

  it("is what a statement is about: any other text, act or state gives another challenge", () => {
    const nonce = "00112233445566778899aabbccddeeff";
    const statement = statementOf(NODE_PRIMITIVES, APPROVAL, { cycle: 0, nonce });
    const lines = shownLines(APPROVAL).map((line) => `${line}\n`).join("");
    assert.equal(statement.shown_sha256, hash("sha256", lines));
    const changes = [
      { approval: "APR-5b1e09c77a43" },
      { cycle: 1 },
      { act: "0".repeat(64) },
      { shown_sha256: "0".repeat(64) },
      { nonce: "10112233445566778899aabbccddeeff" },
    ];
    const challenges = [{}, ...changes].map((change) =>
      challengeOf(NODE_PRIMITIVES, { ...statement, ...change })
    );
    assert.equal(new Set(challenges).size, challenges.length);
  });
});
