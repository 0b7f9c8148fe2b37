/** The enumerations of the API that programs need at run time. This file does not load the schemas. */

/**
 * The strongest effect of an interrupt at a host. `refuses_next_call`: the next call of any tool, built-in ones included.
 * `refuses_wrapped_call`: only calls of tools behind a gateway.
 */
export const FORCES = ['aborts_stream', 'refuses_next_call', 'refuses_wrapped_call', 'next_contact', 'waits'] as const;
export type Force = (typeof FORCES)[number];

export const TOKEN_KINDS = ['admin', 'project', 'agent', 'send'] as const;
/**
 * - `admin`: everything.
 * - `project`: reads everything in one project, and acts there as a person. Settings, tokens and metrics need `admin`.
 * - `agent`: reads all conversations or one conversation of an agent, and marks its notifications as read. Queues notifications
 *   and events in the agent's project, up to level error.
 * - `send`: queues notifications and events in one project, up to level error, and reads nothing.
 */
export type TokenKind = (typeof TOKEN_KINDS)[number];
