/**
 * Recognizes Earpiece's own tools. Calls of these tools pass every gate, because an agent reads notifications and reports tasks
 * with them.
 */

/**
 * Matches names with a prefix of Earpiece's server. Hosts add prefixes such as `mcp__files__`, `mcp_files_`, `files_` or
 * `files.`.
 */
const OF_EARPIECE = /^(?:mcp__?)?earpiece(?:__|[_./:-])/i;
/** Matches `get_notifications`, which the gateway adds to each server that it wraps. */
const PULL = /(?:^|[^a-z])(?:earpiece_)?get_notifications$/i;

export const passesGate = (tool: string): boolean => OF_EARPIECE.test(tool) || PULL.test(tool);
