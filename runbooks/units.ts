import { z } from "zod";

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const BYTES = { kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** A span of time as `30s`, `5m`, `2h` or `7d`; gives seconds. */
export const Duration = z.string().regex(
  /^\d{1,5}[smhd]$/,
  "Expected a span of time like 30s, 5m, 2h or 7d",
);

/** An amount of data as `500MB` or `2GiB`. */
export const Size = z.string().regex(
  /^\d{1,6}(kB|MB|GB|TB|KiB|MiB|GiB)$/,
  "Expected an amount like 500MB or 2GiB",
);

/** Seconds of a {@linkcode Duration}. */
export function seconds(text: string): number {
  return Number(text.slice(0, -1)) * SECONDS[text.at(-1) as keyof typeof SECONDS];
}

/** Bytes of a {@linkcode Size}. */
export function bytes(text: string): number {
  const [, amount, unit] = /^(\d+)(\w+)$/.exec(text)!;
  return Number(amount) * BYTES[unit as keyof typeof BYTES];
}

/** An amount of data for people: `1.4 GB`. */
export function shownBytes(amount: number): string {
  for (const [unit, size] of [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]] as const) {
    if (amount >= size) return `${(amount / size).toFixed(1)} ${unit}`;
  }
  return `${amount} B`;
}
