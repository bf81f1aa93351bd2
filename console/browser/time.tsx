const UNITS = [["d", 86_400], ["h", 3_600], ["min", 60], ["s", 1]] as const;
/** Milliseconds up to which fractions of a second matter. */
const PRECISE_MS = 60_000;

/** A time in the viewer's zone, with UTC beside it. */
export function Time({ at }: { readonly at: string }) {
  const date = new Date(at);
  const utc = `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
  return (
    <time dateTime={at} title={utc}>
      {date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" })}{" "}
      <span class="quiet">· {utc.slice(11)}</span>
    </time>
  );
}

/** Returns how long something has lasted: `3 min`, `2 d 4 h`. */
export function durationText(fromMs: number, toMs: number): string {
  let seconds = Math.max(0, Math.round((toMs - fromMs) / 1_000));
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0 || unit === "s" && parts.length === 0) parts.push(`${count} ${unit}`);
    if (parts.length === 2 || parts.length === 1 && unit === "min") break;
  }
  return parts.join(" ");
}

/** Returns a short time with its fraction: `240 ms`, `2.1 s`; a longer one as {@linkcode durationText} does. */
export function preciseText(fromMs: number, toMs: number): string {
  const ms = Math.max(0, toMs - fromMs);
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < PRECISE_MS ? `${(ms / 1_000).toFixed(1)} s` : durationText(fromMs, toMs);
}
