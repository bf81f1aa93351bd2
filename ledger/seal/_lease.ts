import type pg from "pg";

/**
 * Time after which PostgreSQL ends the session of a sequencer that it hears nothing of: its machine is lost, its network is
 * cut without a reset, or its process is stopped. With it go the lock and whatever was not committed.
 */
const LEASE_MS = 10_000;

/** A session that ends by itself. */
export interface Lease {
  /** Renews it no more. */
  stop(): void;
}

/**
 * Makes the session end once nothing is heard of it for the lease, and renews it until it is stopped. A machine that no longer
 * answers is found by TCP keepalives, and by what it does not acknowledge; a process that is stopped, whose kernel still
 * answers, by the session being idle.
 */
export async function keepLease(writer: pg.Client, leaseMs = LEASE_MS): Promise<Lease> {
  const seconds = Math.max(1, Math.floor(leaseMs / 4_000));
  await writer.query(`
    SET idle_session_timeout = ${leaseMs};
    SET idle_in_transaction_session_timeout = ${leaseMs};
    SET tcp_user_timeout = ${leaseMs};
    SET tcp_keepalives_idle = ${seconds};
    SET tcp_keepalives_interval = ${seconds};
    SET tcp_keepalives_count = 3`);
  let isAsking = false;
  const timer = setInterval(() => {
    if (isAsking) return; // a commit that waits for standbys is not idle
    isAsking = true;
    writer.query("SELECT").then(
      () => isAsking = false,
      () => clearInterval(timer), // the connection's error ends the sequencer
    );
  }, leaseMs / 5).unref();
  return { stop: () => clearInterval(timer) };
}
