/** `npm start`: brings the whole platform up as one tree of processes, keeps it running, and takes it down again. */
import { runPlatform } from "./processes/supervisor/mod.ts";

process.exit(await runPlatform(process.env, process.stdout));
