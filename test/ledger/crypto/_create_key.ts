/** Creates a signing key: `_create_key.ts <path>`. For a test of what is left where that fails. */
import { loadSigningKey } from "../../../ledger/crypto/mod.ts";

loadSigningKey(process.argv[2]!);
