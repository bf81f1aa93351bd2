import { basename } from "node:path";
import { type Observation, say } from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { readCertificate } from "../detection/mod.ts";
import { listAddresses, mayUseAddresses, type UsedAddress } from "./_addresses.ts";
import { listCertificateFiles } from "./_folders.ts";
import type { Observer } from "./observer.ts";

const TIMEOUT_MS = 4_000;
const DAY_MS = 86_400_000;
/** Protocols that begin with TLS. */
const SECURE = /^(?:https|wss|tls|ssl|ldaps|amqps|rediss|mqtts|smtps|imaps|ftps):$/;

/** Reads the certificates of a service's check and of its dependencies. */
export const certificate: Observer = {
  name: "certificate",
  about:
    "Reads the certificates of the check, of dependencies and addresses in the settings that speak TLS, and those among the service's files: time, chain, name",
  applies: (subject) => isSecure(subject.service) || mayUseAddresses(subject),
  async observe(subject, { store }): Promise<Observation[]> {
    const { service, isLocal } = subject;
    const all = await listAddresses(subject, store.db);
    const secure = all.filter(({ given, dependency, url, port }) =>
      port !== undefined &&
      (isSecure(given === "check" ? service : dependency) || SECURE.test(url?.protocol ?? ""))
    );
    const files = service && isLocal ? await listCertificateFiles(service) : [];
    const looks = await Promise.allSettled([...secure.map(look), ...files.map(lookAtFile)]);
    const seen = looks.flatMap((look) => look.status === "fulfilled" ? [look.value] : []);
    if (looks.length > 0 && seen.length === 0) throw (looks[0] as PromiseRejectedResult).reason;
    return seen;
  },
};

function isSecure(service: Service | undefined): boolean {
  return service?.check !== undefined && service.check !== null && "http" in service.check &&
    service.check.http.startsWith("https:");
}

/** Reads a file with certificates: whether the first of them, which it is about, is valid. */
async function lookAtFile(path: string): Promise<Observation> {
  const { chain: [leaf] } = await readCertificate({ file: path }, TIMEOUT_MS);
  const ends = Date.parse(leaf!.validTo);
  return {
    code: "file",
    says: say`The certificate in ${basename(path)} ${
      ends < Date.now()
        ? say`has expired`
        : say`ends in ${Math.floor((ends - Date.now()) / DAY_MS)} days`
    }.`,
    text: `${leaf!.subject}\nvalid from ${leaf!.validFrom} to ${leaf!.validTo}`,
    figures: { of: basename(path), file_expired: ends < Date.now() },
  };
}

async function look({ host, port, of, given }: UsedAddress): Promise<Observation> {
  const { chain, untrusted, matchesName } = await readCertificate(
    { endpoint: `${host.includes(":") ? `[${host}]` : host}:${port}` },
    TIMEOUT_MS,
  );
  const [leaf] = chain;
  const ends = Math.min(...chain.map(({ validTo }) => Date.parse(validTo)));
  const begins = Math.max(...chain.map(({ validFrom }) => Date.parse(validFrom)));
  const days_left = Math.floor((ends - Date.now()) / DAY_MS);
  const figures = {
    of,
    days_left,
    expired: ends < Date.now(),
    early: begins > Date.now(),
    // Which authorities a service trusts that asks others, is not known.
    ...(given === "file" || given === "setting" ? {} : { trusted: untrusted === undefined }),
    ...(given === "file" || given === "setting" ? {} : { matches_name: matchesName !== false }),
  };
  return {
    code: "read",
    says: say`The certificate of ${host}:${port} (${of}) ${
      figures.expired
        ? say`has expired`
        : figures.early
        ? say`is not valid yet`
        : say`ends in ${days_left} days`
    }${untrusted === undefined ? "" : say`, and is not trusted: ${untrusted}`}${
      matchesName === false ? say`, and is issued to another name` : ""
    }.`,
    text: `${leaf!.subject}\nissued by ${leaf!.issuer}\nvalid from ${leaf!.validFrom} to ${
      leaf!.validTo
    }`,
    figures,
  };
}
