import type { Observation } from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { readCertificate } from "../detection/mod.ts";
import { listAddresses, type UsedAddress } from "./_addresses.ts";
import type { Observer } from "./observer.ts";

const TIMEOUT_MS = 4_000;
const DAY_MS = 86_400_000;

/** Reads the certificates of a service's check and of its dependencies. */
export const certificate: Observer = {
  name: "certificate",
  about:
    "Reads the certificates of the check and of dependencies that speak TLS: time, chain, name",
  async observe(subject, { store }): Promise<Observation[]> {
    const all = await listAddresses(subject, store.db);
    const secure = all.filter(({ of, dependency }) =>
      isSecure(of === "the check" ? subject.service : dependency)
    );
    return await Promise.all(secure.map(look));
  },
};

function isSecure(service: Service | undefined): boolean {
  return service?.check !== undefined && service.check !== null && "http" in service.check &&
    service.check.http.startsWith("https:");
}

async function look({ host, port, of }: UsedAddress): Promise<Observation> {
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
    trusted: untrusted === undefined,
    matches_name: matchesName !== false,
  };
  return {
    code: "read",
    says: `The certificate of ${host}:${port} (${of}) ${
      figures.expired
        ? "has expired"
        : figures.early
        ? "is not valid yet"
        : `ends in ${days_left} days`
    }${untrusted === undefined ? "" : `, and is not trusted: ${untrusted}`}${
      figures.matches_name ? "" : ", and is issued to another name"
    }.`,
    text: `${leaf!.subject}\nissued by ${leaf!.issuer}\nvalid from ${leaf!.validFrom} to ${
      leaf!.validTo
    }`,
    figures,
  };
}
