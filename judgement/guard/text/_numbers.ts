/** Numbers of cards and accounts, told from others by their check digits. */

const CARD = /(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])/g;
/** First digits of the networks that issue cards: Visa, Mastercard, American Express, Discover, JCB, Diners, UnionPay, Maestro. */
const ISSUER = /^(?:4|5[0-8]|2[2-7]|3[0456789]|6)/;
const IBAN = /(?<![A-Z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Z0-9])/gi;
/** Lengths of IBANs by country. @see https://www.swift.com/standards/data-standards/iban */
const IBAN_LENGTHS: Readonly<Record<number, string>> = {
  15: "NO",
  16: "BE",
  18: "DK FI FO GL NL SD",
  19: "MK SI",
  20: "AT BA EE KZ LT LU MN XK",
  21: "CH HR LI LV",
  22: "BG BH CR DE GB GE IE ME RS VA",
  23: "AE GI IL IQ OM SO TL",
  24: "AD CZ ES MD PK RO SA SE SK TN VG",
  25: "LY PT ST",
  26: "IS TR",
  27: "BI DJ FR GR IT MC MR SM",
  28: "AL AZ BY CY DO GT HU LB NI PL SV",
  29: "BR EG PS QA UA",
  30: "JO KW MU YE",
  31: "MT SC",
  32: "LC",
  33: "RU",
};
const LENGTH_OF = new Map(
  Object.entries(IBAN_LENGTHS).flatMap(([length, countries]) =>
    countries.split(" ").map((country) => [country, Number(length)] as const)
  ),
);

/** Returns where a text has numbers of payment cards: 13 to 19 digits of an issuer that pass Luhn's check. */
export function locateCardNumbers(text: string): (readonly [start: number, end: number])[] {
  return [...text.matchAll(CARD)].filter(([written]) => {
    const digits = written.replace(/\D/g, "");
    return ISSUER.test(digits) && !/^(\d)\1+$/.test(digits) && passesLuhn(digits);
  }).map(({ index, 0: written }) => [index, index + written.length]);
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Returns where a text has numbers of bank accounts: IBANs of their country's length with the right check digits. */
export function locateIbans(text: string): (readonly [start: number, end: number])[] {
  return [...text.matchAll(IBAN)].flatMap(({ index, 0: written }) => {
    const characters = written.replace(/ /g, "").toUpperCase();
    const length = LENGTH_OF.get(characters.slice(0, 2)) ?? 0;
    // Words may follow an account's number with a blank between.
    const isIban = length > 0 && characters.length >= length &&
      passesModulo97(characters.slice(0, length));
    return isIban ? [[index, index + lengthWithBlanks(written, length)] as const] : [];
  });
}

/** Returns how long the first characters are as they are written, with blanks between. */
function lengthWithBlanks(written: string, characters: number): number {
  let at = 0;
  for (let left = characters; left > 0; at++) if (written[at] !== " ") left--;
  return at;
}

/** @see ISO 13616 */
function passesModulo97(iban: string): boolean {
  const digits = (iban.slice(4) + iban.slice(0, 4))
    .replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  let rest = 0;
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97;
  return rest === 1;
}
