/** The words of the API that programs need at run time, without the schemas. */

/**
 * The strongest effect of an interrupt at a host. `refuses_next_call`: of any tool, built-in ones too.
 * `refuses_wrapped_call`: only of a tool behind a gateway.
 */
export const FORCES = ['aborts_stream', 'refuses_next_call', 'refuses_wrapped_call', 'next_contact', 'waits'] as const;
export type Force = (typeof FORCES)[number];

export const TOKEN_KINDS = ['admin', 'project', 'agent', 'send'] as const;
/**
 * - `admin`: everything.
 * - `project`: reads and writes everything in one project.
 * - `agent`: reads one agent's conversations, or one of them, marks them read, and queues in its project at most at error.
 * - `send`: queues notifications and events in one project, at most at error, and reads nothing.
 */
export type TokenKind = (typeof TOKEN_KINDS)[number];
