/** What a text says about how bad it is: hand-written signals in five languages, and the numbers in it. */
import type { Concepts } from "./lexicon.ts";
import { finderOf } from "./phrases.ts";
import type { Clause } from "./text.ts";

/** Signals of a text by name, with how strong each is. */
export type Signals = ReadonlyMap<string, number>;

const SHARE = /(?<!\d)(\d{1,7})\s?(?:of(?: the)?|\/|out of|von|sur|de)\s?(\d{1,7})/g;
const PERCENT = /(?<!\d)(\d{1,4}(?:[.,]\d{1,4})?)\s?%/g;
const PEOPLE = new RegExp(
  "(?<![\\d.,])(\\d[\\d.,]{0,9})\\s?(?:[\\p{L}-]{1,20}\\s)?(?:" +
    "users?|people|persons?|ppl|employees|colleagues|staff|customers?|clients?|seats|agents|subs|subscribers|students|" +
    "patients|workstations|devices|" +
    "benutzern?|nutzern?|leuten?|personen|mitarbeitern?|mitarbeitende|kolleg\\w+|kunden|arbeitsplatze|" +
    "utilisateurs|personnes|collegues|agents|salaries|employes|postes|" +
    "usuarios|personas|empleados|companeros|clientes|puestos|" +
    "kullanici|kisi|personel|calisan|musteri)",
  "gu",
);
const SITES =
  /(?<![\d.,])(\d[\d.,]{0,9})\s?(?:\p{L}{1,20}\s)?(?:sites?|stores?|branches|offices|hosts?|servers?|nodes?|pods?|switches|vms?|filialen|standorte\w*|server\w*|magasins|agences|sites|serveurs|tiendas|sedes|oficinas|servidores|sube\w*|magaza\w*|sunucu\w*)/gu;
const READY = /^\s?\S*\s?(?:are |is )?(?:up|ready|available|online|running|reachable|healthy)/;

/** A function that collects the signals of a text. */
export function signalsBy(
  lexicon: Concepts,
): (text: string, clauses: readonly Clause[]) => Signals {
  const finder = finderOf(
    Object.entries(lexicon).flatMap(([signal, phrases]) =>
      phrases.map((phrase) => [phrase, signal] as const)
    ),
  );
  return (text, clauses) => {
    const sums = new Map<string, number>();
    const add = (name: string) => sums.set(name, (sums.get(name) ?? 0) + 1);
    for (const { words, fine } of clauses) {
      for (const signal of finder.find(words)) add(fine ? `fine ${signal}` : signal);
    }
    for (const name of [...numbersOf(text), ...toneOf(text)]) add(name);
    if (sums.has("core") && sums.has("down")) add("core and down");
    if (sums.has("everybody") && sums.has("down")) add("everybody and down");
    if (sums.has("half") && sums.has("slow")) add("half and slow");
    if (sums.has("few") && sums.has("workaround")) add("few and workaround");
    for (const [name, n] of sums) sums.set(name, Math.log2(1 + n));
    return sums;
  };
}

function* numbersOf(text: string): Generator<string> {
  const said = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ı", "i");
  for (const match of said.matchAll(SHARE)) {
    const [whole, some, all] = [match[0], Number(match[1]), Number(match[2])];
    if (all < 2 || some > all) continue;
    const ready = READY.test(said.slice(match.index + whole.length).replace(/^\s\w+/, ""));
    yield `share ${stepOf(ready ? 1 - some / all : some / all)}`;
  }
  for (const [, value] of said.matchAll(PERCENT)) {
    yield `percent ${stepOf(Number(value!.replace(",", ".")) / 100)}`;
  }
  for (const [, n] of said.matchAll(PEOPLE)) yield `people ${magnitudeOf(n!)}`;
  for (const [, n] of said.matchAll(SITES)) yield `sites ${magnitudeOf(n!)}`;
}

function stepOf(share: number): string {
  return share === 0
    ? "none"
    : share <= 0.2
    ? "few"
    : share < 0.7
    ? "half"
    : share < 0.96
    ? "most"
    : "all";
}

/** 3 for 1 to 3, then 10, 30, 100 and so on. */
function magnitudeOf(digits: string): string {
  const value = Number(digits.replace(/[.,](?=\d{3}\b)/g, "").replace(/[.,].*/, ""));
  return String([3, 10, 30, 100, 300, 1_000].find((most) => value <= most) ?? "many");
}

function* toneOf(text: string): Generator<string> {
  if (/!/.test(text)) yield "exclaims";
  if (/!!/.test(text)) yield "exclaims twice";
  if (/\?\s*$/m.test(text)) yield "asks";
  if (/\b\p{Lu}{5,}\b/u.test(text)) yield "shouts";
  yield text.length < 90 ? "short" : text.length < 300 ? "middling" : "long";
}
