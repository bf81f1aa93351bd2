import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createServer, type Server } from "node:tls";
import { detectAll, recheck } from "../../../judgement/detection/mod.ts";
import type { Service } from "../../../integrations/host/mod.ts";
import { putService } from "../../../store/cmdb/mod.ts";
import { getFinding } from "../../../store/incidents/mod.ts";
import { freePort } from "../../_run.ts";
import {
  type CertificateOptions,
  type TestCertificate,
  testCertificate,
} from "../../runtime/web/_certificate.ts";
import { createTestContext, type TestContext } from "./_context.ts";
import { asSuperuser } from "../../_superuser.ts";

const DAY = 86_400_000;
const LONG: CertificateOptions = { from: -100 * DAY, to: 100 * DAY };

describe("certificates", () => {
  let context: TestContext;
  let authority: TestCertificate;
  let caFile: string;
  let count = 0;
  const servers: Server[] = [];
  before(async () => {
    context = await createTestContext("");
    authority = testCertificate({ ...LONG, subject: "authority", authority: true });
    caFile = join(context.folder, "ca.pem");
    await writeFile(caFile, authority.cert);
  });
  beforeEach(async () => {
    await asSuperuser(context.store).execute("DELETE FROM findings");
    await asSuperuser(context.store).execute("DELETE FROM services");
  });
  after(async () => {
    for (const server of servers) server.close();
    await context.close();
  });

  /** Serves a certificate. @returns `host:port` */
  async function serve(
    wanted: CertificateOptions,
    chain: readonly TestCertificate[] = [],
  ): Promise<string> {
    const { cert, key } = testCertificate({ issuer: authority, ...LONG, ...wanted });
    const server = createServer({ cert: [cert, ...chain.map(({ cert }) => cert)].join(""), key })
      .on("tlsClientError", () => {}).listen(0, "127.0.0.1");
    servers.push(server);
    await once(server, "listening");
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  async function file(...certificates: readonly TestCertificate[]): Promise<string> {
    const path = join(context.folder, `${++count}.pem`);
    await writeFile(path, certificates.map(({ cert, key }) => cert + key).join(""));
    return path;
  }
  const sweep = async (watch: string) => {
    const yaml = `certificates:\n  watch:\n    - ${watch}\n`;
    const { findings, runs } = await detectAll(await context.with(yaml), { save: true });
    const error = runs.find(({ detector }) => detector === "certificates")!.error;
    return { findings, codes: findings.map(({ code }) => code).sort(), error };
  };
  const endpoint = (address: string, rest = "") =>
    `{ endpoint: "${address}", ca: "${caFile}"${rest} }`;

  it("finds no flaw in a good one", async () => {
    assert.deepEqual((await sweep(endpoint(await serve({})))).codes, []);
  });

  it("finds one that expires soon, more urgent the sooner, or has expired", async () => {
    const soon = await serve({ from: -300 * DAY, to: 10 * DAY });
    const { findings: [found] } = await sweep(endpoint(soon, ", service: shop"));
    const { code, severity, service } = found!;
    assert.deepEqual([code, severity, service], ["expires_soon", "medium", "shop"]);
    assert.equal(found!.detail.days_left, 9);
    const urgent = await serve({ from: -300 * DAY, to: 2 * DAY });
    assert.equal((await sweep(endpoint(urgent))).findings[0]!.severity, "high");
    const over = await serve({ from: -300 * DAY, to: -DAY });
    assert.deepEqual((await sweep(endpoint(over))).codes, ["expired"]);
  });

  it("ignores one that is issued for a few days and has most of them left", async () => {
    const short = await serve({ from: -DAY, to: 6 * DAY });
    assert.deepEqual((await sweep(endpoint(short))).codes, []);
  });

  it("finds one that is not valid yet", async () => {
    const early = await serve({ from: DAY, to: 90 * DAY });
    assert.deepEqual((await sweep(endpoint(early))).codes, ["not_yet_valid"]);
  });

  it("finds one without a trusted issuer, unless it is to be self-signed", async () => {
    const alone = await serve({ issuer: undefined });
    const { findings: [found], codes } = await sweep(`{ endpoint: "${alone}" }`);
    assert.deepEqual(codes, ["untrusted"]);
    assert.match(String(found!.detail.reason), /self_signed/);
    assert.deepEqual((await sweep(`{ endpoint: "${alone}", self_signed: true }`)).codes, []);
  });

  it("finds one whose server omits an intermediate", async () => {
    const between = testCertificate({
      ...LONG,
      subject: "between",
      issuer: authority,
      authority: true,
    });
    const without = await serve({ issuer: between });
    assert.deepEqual((await sweep(endpoint(without))).codes, ["untrusted"]);
    const complete = await serve({ issuer: between }, [between]);
    assert.deepEqual((await sweep(endpoint(complete))).codes, []);
  });

  it("finds an intermediate that expires", async () => {
    const between = testCertificate({
      subject: "between",
      issuer: authority,
      authority: true,
      from: -300 * DAY,
      to: 5 * DAY,
    });
    const server = await serve({ issuer: between }, [between]);
    const { findings: [found], codes } = await sweep(endpoint(server));
    assert.deepEqual(codes, ["expires_soon"]);
    assert.equal(found!.detail.place_in_chain, 1);
  });

  describe("with other certificates than those of the verified path", () => {
    const LATE = { from: -300 * DAY, to: -DAY };
    const root = { subject: "new root", authority: true };
    const between = (issuer: TestCertificate, options: CertificateOptions = {}) =>
      testCertificate({ ...LONG, subject: "between", authority: true, issuer, ...options });
    const trust = async (...roots: readonly TestCertificate[]) => `, ca: "${await file(...roots)}"`;
    const at = async (address: string, ca: string) =>
      (await sweep(`{ endpoint: "${address}"${ca} }`)).codes;
    const inFile = async (chain: readonly TestCertificate[], ca: string) =>
      (await sweep(`{ file: "${await file(...chain)}"${ca} }`)).codes;
    let oldRoot: TestCertificate;
    let newRoot: TestCertificate;
    let crossSigned: TestCertificate;
    before(() => {
      oldRoot = testCertificate({ ...LATE, subject: "old root", authority: true });
      newRoot = testCertificate({ ...LONG, ...root });
      crossSigned = testCertificate({ ...LATE, ...root, sameKeyAs: newRoot, issuer: oldRoot });
    });

    it("finds no flaw where the trusted root is sent along as an older one had signed it", async () => {
      const inter = between(newRoot);
      const server = await serve({ issuer: inter }, [inter, crossSigned]);
      assert.deepEqual(await at(server, await trust(newRoot)), []);
      const leaf = testCertificate({ ...LONG, issuer: inter });
      assert.deepEqual(await inFile([leaf, inter, crossSigned], await trust(newRoot)), []);
    });

    it("finds no flaw where an old root, or a certificate twice, is sent along", async () => {
      const inter = between(newRoot);
      const leaf = testCertificate({ ...LONG, issuer: inter });
      for (const chain of [[inter, oldRoot], [inter, inter, newRoot], [oldRoot, inter]]) {
        const server = await serve({ issuer: inter }, chain);
        assert.deepEqual(await at(server, await trust(newRoot)), []);
        assert.deepEqual(await inFile([leaf, ...chain], await trust(newRoot)), []);
      }
    });

    it("finds no flaw where one of two intermediates with the same key has expired", async () => {
      const inter = between(newRoot);
      const late = between(newRoot, { ...LATE, sameKeyAs: inter });
      const leaf = testCertificate({ ...LONG, issuer: inter });
      assert.deepEqual(await inFile([leaf, late, inter], await trust(newRoot)), []);
      const server = await serve({ issuer: inter }, [inter, late]);
      assert.deepEqual(await at(server, await trust(newRoot)), []);
    });

    it("finds an intermediate that has expired where no other path leads to the root", async () => {
      const late = between(newRoot, LATE);
      const server = await serve({ issuer: late }, [late]);
      assert.deepEqual(await at(server, await trust(newRoot)), ["expired"]);
      const leaf = testCertificate({ ...LONG, issuer: late });
      assert.deepEqual(await inFile([leaf, late], await trust(newRoot)), ["expired"]);
    });

    it("finds a trusted root that has expired, where no other is trusted", async () => {
      const inter = between(oldRoot);
      const server = await serve({ issuer: inter }, [inter]);
      assert.deepEqual(await at(server, await trust(oldRoot)), ["expired"]);
      assert.deepEqual(await at(server, await trust(oldRoot, newRoot)), ["expired"]);
    });

    it("takes the path that lasts longest for the end of the certificate", async () => {
      const other = testCertificate({ ...LONG, subject: "other root", authority: true });
      const inter = between(newRoot, { from: -300 * DAY, to: 5 * DAY });
      const longer = between(other, { sameKeyAs: inter });
      const leaf = testCertificate({ ...LONG, issuer: inter });
      const chain = [leaf, inter, longer];
      assert.deepEqual(await inFile(chain, await trust(newRoot, other)), []);
      assert.deepEqual(await inFile(chain, await trust(newRoot)), ["expires_soon"]);
    });

    it("does not take a certificate that is no authority for an issuer", async () => {
      const notOne = between(newRoot, { authority: false });
      const leaf = testCertificate({ ...LONG, issuer: notOne });
      assert.deepEqual(await inFile([leaf, notOne], await trust(newRoot)), ["untrusted"]);
      const server = await serve({ issuer: notOne }, [notOne]);
      assert.deepEqual(await at(server, await trust(newRoot)), ["untrusted"]);
    });
  });

  it("finds one that is issued to another name", async () => {
    const server = await serve({ names: ["shop.example"] });
    assert.deepEqual((await sweep(endpoint(server, ", name: shop.example"))).codes, []);
    assert.deepEqual((await sweep(endpoint(server, ", name: mail.example"))).codes, ["wrong_name"]);
  });

  it("takes one of another name that nobody trusts for a single fault", async () => {
    const strange = await serve({ issuer: undefined, names: ["shop.example"] });
    const { codes, findings: [found] } = await sweep(endpoint(strange, ", name: mail.example"));
    assert.deepEqual(codes, ["untrusted"]);
    assert.match(
      String(found!.summary),
      /not issued by a trusted authority, and not issued to mail\.example$/,
    );
  });

  it("looks at services that are probed over HTTPS, and groups both findings", async () => {
    const address = await serve({ from: -300 * DAY, to: -DAY });
    const service: Service = {
      name: "shop",
      type: "web",
      host: "localhost",
      owner: null,
      origin: "file",
      check: { http: `https://${address}/` },
      restart: null,
      watched: true,
      dependsOn: [],
    };
    await putService(context.store.asPlatform(), service);
    const both = await context.with("certificates: {}\nservice_probes: {}\n");
    const { incidents } = await detectAll(both, { save: true });
    assert.equal(incidents.find(({ code }) => code === "expired")!.related![0]!.service, "shop");
  });

  it("checks files: time, name, links of the chain, authority", async () => {
    const right = testCertificate({ ...LONG, issuer: authority, names: ["shop.example"] });
    const look = async (path: string, rest = "") =>
      (await sweep(`{ file: "${path}"${rest} }`)).codes;
    assert.deepEqual(await look(await file(right, authority), ", name: shop.example"), []);
    assert.deepEqual(await look(await file(right), ", name: mail.example"), ["wrong_name"]);
    assert.deepEqual(await look(await file(right), `, ca: "${caFile}"`), []);
    const stranger = testCertificate({ ...LONG, subject: "authority", authority: true });
    assert.deepEqual(await look(await file(right, stranger)), ["untrusted"]);
    assert.deepEqual(
      await look(await file(testCertificate({ ...LONG, subject: "x" })), `, ca: "${caFile}"`),
      [
        "untrusted",
      ],
    );
    const old = testCertificate({ from: -90 * DAY, to: -DAY });
    assert.deepEqual(await look(await file(old)), ["expired"]);
  });

  it("is the same fault until the certificate is replaced", async () => {
    const path = await file(testCertificate({ from: -300 * DAY, to: 2 * DAY }));
    const { findings: [soon] } = await sweep(`{ file: "${path}" }`);
    await writeFile(path, testCertificate({ from: -300 * DAY, to: -DAY }).cert);
    assert.deepEqual(await recheck(context, soon!, "before"), { present: true, code: "expired" });
    await writeFile(path, testCertificate(LONG).cert);
    assert.deepEqual(await recheck(context, soon!, "after"), { present: false, code: "ok" });
  });

  it("reports what it can't read, and keeps what it found before", async () => {
    const address = await serve({ from: -300 * DAY, to: -DAY });
    assert.deepEqual((await sweep(endpoint(address))).codes, ["expired"]);
    servers.pop()!.close();
    const { codes, error } = await sweep(endpoint(address));
    assert.deepEqual([codes, error], [["expired"], "endpoint_refused"]);
    const nobody = `127.0.0.1:${await freePort()}`;
    assert.deepEqual((await sweep(endpoint(nobody))).error, "endpoint_refused");
    assert.equal(
      (await sweep(`{ file: "${join(context.folder, "none.pem")}" }`)).error,
      "file_enoent",
    );
  });

  it("keeps what it found before where it is disabled", async () => {
    const address = await serve({ from: -300 * DAY, to: -DAY });
    const { findings: [expired] } = await sweep(endpoint(address));
    await detectAll(await context.with("platform: {}\n"), { save: true });
    const kept = await getFinding(context.store.asPlatform(), expired!.fingerprint);
    assert.equal(kept!.cleared_at, null);
  });
});
