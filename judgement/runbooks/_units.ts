import { z } from "zod";

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const BYTES = { kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** A span of time such as `30s`, `5m`, `2h` or `7d`. */
export const Duration = z.string().regex(
  /^\d{1,5}[smhd]$/,
  "Expected a span of time like 30s, 5m, 2h or 7d",
);

/** An amount of data such as `500MB` or `2GiB`. */
export const Size = z.string().regex(
  /^\d{1,6}(kB|MB|GB|TB|KiB|MiB|GiB)$/,
  "Expected an amount like 500MB or 2GiB",
);

/** Returns the seconds of a {@linkcode Duration}. */
export function seconds(text: string): number {
  return Number(text.slice(0, -1)) * SECONDS[text.at(-1) as keyof typeof SECONDS];
}

/** Returns the milliseconds of a {@linkcode Duration}. */
export function milliseconds(text: string): number {
  return seconds(text) * 1_000;
}

/** Returns the bytes of a {@linkcode Size}. */
export function bytes(text: string): number {
  const [, amount, unit] = /^(\d+)(\w+)$/.exec(text)!;
  return Number(amount) * BYTES[unit as keyof typeof BYTES];
}

/** Formats an amount of data for people: `1.4 GB`. */
export function formatBytes(amount: number): string {
  for (const unit of ["TB", "GB", "MB", "kB"] as const) {
    if (amount >= BYTES[unit]) return `${(amount / BYTES[unit]).toFixed(1)} ${unit}`;
  }
  return `${amount} B`;
}
