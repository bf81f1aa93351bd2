import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { verifyAuthenticationResponse } from "@simplewebauthn/server";
import { isoCBOR } from "@simplewebauthn/server/helpers";
import { ROOT } from "../../../config.ts";
import type { SignedStatement } from "../../../contract/domain/mod.ts";
import { NODE_PRIMITIVES } from "../../../ledger/crypto/mod.ts";
import { BadEvidence, verifyEvidence } from "../../../ledger/opened/mod.ts";
import { NOBLE } from "../../../ledger/page/checks/mod.ts";
import { challengeOf, signedChallenge, verifyAssertion } from "../../../ledger/passkeys/mod.ts";
import { NOTHING_PINNED, parseTrust } from "../../../ledger/trust/mod.ts";
import type { Case } from "./_case.ts";
import { makeCases } from "./_cases.ts";
import { PINNED, PINNED_OTHER } from "./_make.ts";
import { readVectors, VECTORS_FILE } from "./_vectors.ts";

describe("opened evidence", () => {
  const { trust, cases } = readVectors();
  const trustOf = ({ trust: name }: Pick<Case, "trust">, trusts = trust) =>
    name === "nothing" ? NOTHING_PINNED : parseTrust(JSON.stringify(trusts[name]), NODE_PRIMITIVES);
  let python: {
    readonly results: readonly { readonly exit: number; readonly says: readonly string[] }[];
    readonly flips: readonly (readonly [number, number])[];
  };
  before(async () => {
    const program = join(ROOT, "test", "ledger", "opened", "check_vectors.py");
    const files = [join(ROOT, "ledger", "verify_ledger.py"), VECTORS_FILE];
    const { stdout } = await promisify(execFile)("python3", [program, ...files], {
      maxBuffer: 2 ** 24,
    });
    python = JSON.parse(stdout);
  });

  for (const [n, one] of cases.entries()) {
    it(`${one.exit === 0 ? "holds" : `ends with ${one.exit}`}: ${one.name}`, async () => {
      const text = JSON.stringify(one.file);
      const report = await verifyEvidence(text, trustOf(one), NODE_PRIMITIVES);
      assert.equal(report.exit, one.exit, report.lines.join("\n"));
      assert.ok(report.lines.some((line) => line.includes(one.says)), report.lines.join("\n"));
      assert.deepEqual(await verifyEvidence(text, trustOf(one), NOBLE), report);
      assert.deepEqual(python.results[n], { exit: report.exit, says: report.lines });
    });
  }

  it("is judged alike where it is made anew", async () => {
    const trusts = { pinned: PINNED, another: PINNED_OTHER };
    const made = makeCases();
    assert.deepEqual(made.map(({ name }) => name), cases.map(({ name }) => name));
    for (const one of made) {
      const report = await verifyEvidence(
        JSON.stringify(one.file),
        trustOf(one, trusts),
        NODE_PRIMITIVES,
      );
      assert.equal(report.exit, one.exit, one.name);
    }
  });

  it("does not hold with any byte of a passkey's answer changed", async () => {
    for (const [n, one] of cases.slice(0, 3).entries()) {
      const signed = signedOf(one)!;
      const size = (["client_data", "authenticator_data", "signature"] as const)
        .map((field) => Buffer.from(signed.assertion[field], "base64url").length)
        .reduce((sum, length) => sum + length);
      assert.deepEqual(python.flips[n], [0, size]);
      const expected = {
        challenge: signedChallenge(NODE_PRIMITIVES, signed),
        rpId: signed.rp_id,
        origins: [signed.origin],
      };
      const passkey = { ...signed.assertion, public_key: signed.public_key };
      for (const field of ["client_data", "authenticator_data", "signature"] as const) {
        const bytes = Buffer.from(signed.assertion[field], "base64url");
        for (let at = 0; at < bytes.length; at++) {
          const changed = Buffer.from(bytes);
          changed[at]! ^= 1;
          const assertion = { ...signed.assertion, [field]: changed.toString("base64url") };
          await assert.rejects(verifyAssertion(NODE_PRIMITIVES, assertion, passkey, expected), {
            name: "PasskeyError",
          });
        }
      }
    }
  });

  it("has signatures that another implementation takes", async () => {
    for (const one of cases.filter(({ exit }) => exit === 0)) {
      const signed = signedOf(one);
      if (!signed) continue; // a key's decision
      const { assertion, public_key } = signed;
      const { verified } = await verifyAuthenticationResponse({
        expectedChallenge: "call" in signed.statement
          ? challengeOf(NODE_PRIMITIVES, signed.statement)
          : signedChallenge(NODE_PRIMITIVES, signed),
        expectedOrigin: signed.origin,
        expectedRPID: signed.rp_id,
        requireUserVerification: true,
        credential: { id: assertion.credential_id, publicKey: coseOf(public_key), counter: 0 },
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
      assert.ok(verified, one.name);
    }
  });

  it("is refused where the file says something twice, or is none", async () => {
    const text = JSON.stringify(cases[0]!.file);
    const files = [text.replace("{", '{"sealoop_evidence":1,'), `${text}x`, "{}", "[]", ""];
    for (const file of files) {
      await assert.rejects(verifyEvidence(file, NOTHING_PINNED, NODE_PRIMITIVES), BadEvidence);
    }
  });
});

/** Returns what was signed last in a file; undefined: nothing was. */
function signedOf({ file }: Case): SignedStatement | undefined {
  return file.receipts.map(({ record, opened }): SignedStatement | undefined =>
    opened.statement ? JSON.parse(opened.statement.content) : JSON.parse(record).details.statement
  ).findLast((signed) => signed !== undefined);
}

/** @see RFC 9053 §7, RFC 8230 §4 */
function coseOf(key: SignedStatement["public_key"]): Uint8Array<ArrayBuffer> {
  const bytes = (text: string) => Uint8Array.from(Buffer.from(text, "base64url"));
  const fields: (readonly [number, number | Uint8Array<ArrayBuffer>])[] = key.kty === "EC"
    ? [[1, 2], [3, -7], [-1, 1], [-2, bytes(key.x)], [-3, bytes(key.y)]]
    : key.kty === "OKP"
    ? [[1, 1], [3, -8], [-1, 6], [-2, bytes(key.x)]]
    : [[1, 3], [3, -257], [-1, bytes(key.n)], [-2, bytes(key.e)]];
  return isoCBOR.encode(new Map(fields));
}
