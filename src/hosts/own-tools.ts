/**
 * Recognizes Earpiece's own tools. Calls of these tools pass every gate, because an agent reads notifications and reports tasks
 * with them.
 */

/**
 * Matches the names of tools of Earpiece's server. Hosts add prefixes such as `mcp__earpiece__`, `mcp_earpiece_`, `earpiece_` or
 * `earpiece.`.
 */
const OF_EARPIECE = /^(?:mcp__?)?earpiece(?:__|[_./:-])/i;
/** Matches `get_notifications`, which a gateway adds to the tools of its upstream servers. */
const PULL = /(?:^|[^a-z])(?:earpiece_)?get_notifications$/i;

export const passesGate = (tool: string): boolean => OF_EARPIECE.test(tool) || PULL.test(tool);
