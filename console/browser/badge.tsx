import { useEffect, useState } from "preact/hooks";
import { liveness } from "./live.ts";

/** Milliseconds without an answer after which a page says since when. */
const OFFLINE_MS = 60_000;

/** Tells whether the page is up to date: it never says so of what it doesn't know. */
export function Badge() {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const { connected, heardMs } = liveness.value;
  if (connected) return <p class="badge live" role="status">live</p>;
  if (heardMs === undefined) return <p class="badge away" role="status">connecting</p>;
  const isOffline = now - heardMs >= OFFLINE_MS;
  return (
    <p class="badge away">
      <span class="unseen" role="status">not live</span>
      {isOffline
        ? `offline since ${new Date(heardMs).toLocaleTimeString(undefined, { timeStyle: "short" })}`
        : `${Math.max(1, Math.round((now - heardMs) / 1_000))} s ago`}
    </p>
  );
}
