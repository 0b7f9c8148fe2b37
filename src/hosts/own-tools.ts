/** Recognizes Earpiece's own tools, which pass every gate: an agent reads and reports with them. */

/** The prefixes that hosts add to a tool's name: `mcp__files__`, `mcp_files_`, `files_`, `files.`. */
const OF_EARPIECE = /^(?:mcp__?)?earpiece(?:__|[_./:-])/i;
/** The gateway adds this tool to each server that it wraps. */
const PULL = /(?:^|[^a-z])(?:earpiece_)?get_notifications$/i;

export const passesGate = (tool: string): boolean => OF_EARPIECE.test(tool) || PULL.test(tool);
