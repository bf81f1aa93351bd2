import pg from "pg";
import { BadSetting, type Config } from "../../config.ts";
import {
  claimDataFolder,
  databaseUrl,
  startPostgres,
  superuserUrl,
} from "../../runtime/embedded/mod.ts";
import type { Role } from "../../store/mod.ts";
import { directUrl } from "../_database_setting.ts";
import { runToEnd } from "../_end.ts";

/** The database that a command works on. */
export interface CommandDatabase {
  readonly urls: Readonly<Pick<Record<Role, string>, "owner" | "sequencer">>;
  /** Connection string of a role that sees and may change all rows, as far as the settings name one. */
  readonly superuserUrl: string;
  stop(): Promise<void>;
}

/** Opens the database of the settings, or starts this machine's own for the command. */
export async function openDatabase({ settings, dataDir }: Config): Promise<CommandDatabase> {
  const owner = directUrl(settings, "owner") ?? settings.DATABASE_URL;
  const sequencer = directUrl(settings, "sequencer") ?? settings.SEALOOP_DATABASE_SEQUENCER_URL;
  if (owner && sequencer) {
    const { SEALOOP_DATABASE_BACKUP_URL: superuserUrl = owner } = settings;
    return { urls: { owner, sequencer }, superuserUrl, stop: () => Promise.resolve() };
  }
  if (owner) throw new BadSetting("Set SEALOOP_DATABASE_SEQUENCER_URL, too");
  const tree = await claimDataFolder(dataDir);
  const stop = async () => {
    await tree.stop();
    await tree.release();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void runToEnd(() => stop().then(() => 1, () => 1)));
  }
  try {
    const { urls } = await startPostgres(dataDir, settings.SEALOOP_POSTGRES_PORT, tree);
    const url = superuserUrl(dataDir, settings.SEALOOP_POSTGRES_PORT)!;
    return { urls, superuserUrl: url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Opens the database of the settings, or the one that runs on this machine; where none runs, it is started. */
export async function openRunningDatabase(config: Config): Promise<CommandDatabase> {
  const { settings, dataDir } = config;
  if (settings.DATABASE_URL === undefined) {
    const port = settings.SEALOOP_POSTGRES_PORT;
    const owner = databaseUrl(dataDir, port, "owner");
    const sequencer = databaseUrl(dataDir, port, "sequencer");
    if (owner && sequencer && await answers(sequencer)) {
      const url = superuserUrl(dataDir, port)!;
      return { urls: { owner, sequencer }, superuserUrl: url, stop: () => Promise.resolve() };
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
