import pg from "pg";
import type { Config } from "../../config.ts";
import { claimDataFolder, databaseUrl, startPostgres } from "../../embedded/mod.ts";
import type { Role } from "../../store/mod.ts";

/** The database that a command works on. */
export interface CommandDatabase {
  readonly urls: Readonly<Pick<Record<Role, string>, "owner" | "sequencer">>;
  stop(): Promise<void>;
}

/** Opens the database of the settings, or starts this machine's own for the command. */
export async function openDatabase({ settings, dataDir }: Config): Promise<CommandDatabase> {
  const { DATABASE_URL, SEALOOP_DATABASE_SEQUENCER_URL: sequencer = DATABASE_URL } = settings;
  if (DATABASE_URL && sequencer) {
    return { urls: { owner: DATABASE_URL, sequencer }, stop: () => Promise.resolve() };
  }
  const tree = await claimDataFolder(dataDir);
  const stop = async () => {
    await tree.stop();
    await tree.release();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stop().finally(() => process.exit(1)));
  }
  try {
    const { urls } = await startPostgres(dataDir, settings.SEALOOP_POSTGRES_PORT, tree);
    return { urls, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Opens the database of the settings, or the one that runs on this machine; where none runs, it is started. */
export async function openRunningDatabase(config: Config): Promise<CommandDatabase> {
  const { settings, dataDir } = config;
  if (settings.DATABASE_URL === undefined) {
    const [owner, sequencer] = (["owner", "sequencer"] as const).map((role) =>
      databaseUrl(dataDir, settings.SEALOOP_POSTGRES_PORT, role)
    );
    if (owner && sequencer && await answers(sequencer)) {
      return { urls: { owner, sequencer }, stop: () => Promise.resolve() };
    }
  }
  return await openDatabase(config);
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
