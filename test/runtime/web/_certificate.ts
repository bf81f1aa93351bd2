/** Certificates of tests. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
} from "node:crypto";

/** A certificate and its key, in PEM form. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
  /** Common name. */
  readonly subject: string;
}

/** Options of a certificate. */
export interface CertificateOptions {
  /** Default: `test`. */
  readonly subject?: string;
  /** DNS names, in addition to 127.0.0.1. */
  readonly names?: readonly string[];
  /** Milliseconds from now. Default: an hour ago, and in an hour. */
  readonly from?: number;
  readonly to?: number;
  /** Default: itself. */
  readonly issuer?: TestCertificate;
  /** One with the same key: a certificate of the same authority, cross-signed. Default: a new key. */
  readonly sameKeyAs?: TestCertificate;
  /** True where it may sign others. */
  readonly authority?: boolean;
}

const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));
const HOUR = 3_600_000;

/** Creates a certificate for 127.0.0.1. @see RFC 5280 §4.1 */
export function testCertificate(
  { subject = "test", names = [], from = -HOUR, to = HOUR, issuer, sameKeyAs, authority = false }:
    CertificateOptions = {},
): TestCertificate {
  const privateKey = sameKeyAs
    ? createPrivateKey(sameKeyAs.key)
    : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const publicKey = createPublicKey(privateKey);
  const alternatives = sequence(
    der(0x87, Buffer.of(127, 0, 0, 1)),
    ...names.map((name) => der(0x82, Buffer.from(name))),
  );
  const tbs = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    commonName(issuer?.subject ?? subject),
    sequence(time(Date.now() + from), time(Date.now() + to)),
    commonName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(
      0xa3,
      sequence(
        sequence(oid("2.5.29.17"), der(0x04, alternatives)),
        ...(authority
          ? [sequence(oid("2.5.29.19"), der(0x01, Buffer.of(255)), der(0x04, AUTHORITY))]
          : []),
      ),
    ),
  );
  const signer = issuer ? createPrivateKey(issuer.key) : privateKey;
  const signature = Buffer.concat([Buffer.of(0), sign("sha256", tbs, signer)]);
  const certificate = sequence(tbs, ECDSA_WITH_SHA256, der(0x03, signature));
  return {
    subject,
    cert: `-----BEGIN CERTIFICATE-----\n${
      certificate.toString("base64")
    }\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

const AUTHORITY = sequence(der(0x01, Buffer.of(255)));

function commonName(name: string): Buffer {
  return sequence(der(0x31, sequence(oid("2.5.4.3"), der(0x0c, Buffer.from(name)))));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

/** @see ITU-T X.690 §8.1 */
function der(tag: number, body: Buffer): Buffer {
  const { length } = body;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  const size = length < 128 ? [length] : long;
  return Buffer.concat([Buffer.of(tag, ...size), body]);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  const bytes = others.flatMap((arc) => {
    const groups = [arc & 127];
    for (let rest = arc >> 7; rest > 0; rest >>= 7) groups.unshift(rest & 127 | 128);
    return groups;
  });
  return der(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

/** Encodes UTCTime, as up to 2049. @see RFC 5280 §4.1.2.5 */
function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/\D/g, "");
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}
