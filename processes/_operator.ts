import { userInfo } from "node:os";

/** Actor in the receipts of commands. */
export const OPERATOR = "operator";

/** Returns the user who gave the command, for private evidence; under `sudo` the one who typed it. */
export const currentUser = (): string => process.env.SUDO_USER || userInfo().username;
