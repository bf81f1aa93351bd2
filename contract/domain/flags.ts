/** Switches that an admin turns, each read by the code at each use. */
export const FLAGS = {
  pause_mail: "No mail is sent: it waits, and is sent once this is false again",
  pause_sweeps:
    "Sweeps look at nothing, so that no incident is found; runs that a person starts go on",
  pause_webhooks:
    "Nothing is delivered to webhooks: deliveries wait, and are made once this is false again",
  read_only: "Nothing that changes something is done, and no repair: the stop of everything",
  require_two_approvers: "What people are asked from now on needs two of them",
} as const;

/** Name of a flag. Each is true or false, and false until it is set. */
export type FlagName = keyof typeof FLAGS;

/** Names of all flags. */
export const FLAG_NAMES = Object.keys(FLAGS) as FlagName[];
