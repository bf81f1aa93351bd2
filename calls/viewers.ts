import { randomUUID } from "node:crypto";

/** Channel of PostgreSQL's notifications by which gateways tell each other who looks. Nothing of it is stored. */
export const VIEWERS_CHANGED = "viewers_changed";

/** Pause after which a gateway tells again who looks, and time after which others forget one that no longer does. */
const REPEAT_MS = 10_000;
const FORGET_MS = 25_000;
/** A notification has at most 8,000 bytes. */
const MAX_NAMES = 20;
const MAX_NAME = 100;

/** News of a gateway for the others. */
interface Told {
  readonly gateway: string;
  /** A tenant and an approval of it. */
  readonly topic: string;
  readonly names: readonly string[];
  /** True: others tell who looks at it there, as somebody has just come. */
  readonly asks: boolean;
}

/** Who has a page open now, in all gateways. */
export interface Viewers {
  /** @returns ends it */
  join(topic: string, name: string): () => void;
  /** Names of those who look, each once. */
  namesOf(topic: string): string[];
  /** Takes what a gateway has told. */
  hear(payload: string): void;
  close(): void;
}

/**
 * Keeps who looks at what.
 *
 * @param send tells all gateways, this one too; where it fails, they hear of it with the next repetition
 * @param changed is called with a topic whose viewers may be others now
 */
export function openViewers(
  send: (payload: string) => Promise<unknown>,
  changed: (topic: string) => void,
): Viewers {
  const gateway = randomUUID();
  const own = new Map<string, string[]>();
  const others = new Map<string, Map<string, { names: readonly string[]; heardMs: number }>>();
  const timer = setInterval(repeat, REPEAT_MS).unref();

  function tell(topic: string, asks = false): void {
    const names = (own.get(topic) ?? []).slice(0, MAX_NAMES).map((one) => one.slice(0, MAX_NAME));
    const told: Told = { gateway, topic, names, asks };
    send(JSON.stringify(told)).catch(() => {});
  }

  function repeat(): void {
    for (const topic of own.keys()) tell(topic);
    for (const [topic, gateways] of others) {
      for (const [id, { heardMs }] of gateways) {
        if (performance.now() - heardMs < FORGET_MS) continue;
        forget(topic, id);
        changed(topic);
      }
    }
  }

  function forget(topic: string, id: string): void {
    const gateways = others.get(topic);
    gateways?.delete(id);
    if (gateways?.size === 0) others.delete(topic);
  }

  return {
    join(topic, name) {
      own.set(topic, [...own.get(topic) ?? [], name]);
      changed(topic);
      tell(topic, true);
      let isThere = true;
      return () => {
        if (!isThere) return;
        isThere = false;
        const names = [...own.get(topic) ?? []];
        names.splice(names.indexOf(name), 1);
        if (names.length > 0) own.set(topic, names);
        else own.delete(topic);
        changed(topic);
        tell(topic);
      };
    },
    namesOf(topic) {
      const elsewhere = [...others.get(topic)?.values() ?? []].flatMap(({ names }) => names);
      return [...new Set([...own.get(topic) ?? [], ...elsewhere])].sort();
    },
    hear(payload) {
      const { gateway: id, topic, names, asks } = JSON.parse(payload) as Told;
      if (id === gateway) return;
      if (names.length === 0) forget(topic, id);
      else {
        const gateways = others.get(topic) ?? new Map();
        others.set(topic, gateways.set(id, { names, heardMs: performance.now() }));
      }
      changed(topic);
      if (asks && own.has(topic)) tell(topic);
    },
    close: () => clearInterval(timer),
  };
}
