/**
 * Encodes an address or an id for a path. URL parsers remove `.` and `..` in any spelling, and an id may equal the name of a
 * route. Such a text gets a leading space, which no name or id has. The server removes the space.
 */
import { parseAddress } from '../../core/address.ts';

const DOTS = /^\.{1,2}$/u;
const ROUTES = new Set(['subscribers']);

const nameIn = (name: string): string => encodeURIComponent(DOTS.test(name) ? ` ${name}` : name);

export function notificationPath(id: string): string {
  return `/api/notifications/${ROUTES.has(id) ? encodeURIComponent(` ${id}`) : nameIn(id)}`;
}

export function agentPath(address: string): string {
  const parsed = parseAddress(address);
  // The server answers an address of a whole project with an error.
  const agent = parsed.kind === 'project' ? '*' : parsed.agent;
  return `/api/projects/${nameIn(parsed.project)}/agents/${nameIn(agent)}`;
}

/** Makes the path of a conversation. An address without a conversation means the agent's `#main`. */
export function conversationPath(address: string): string {
  const parsed = parseAddress(address);
  const conversation = parsed.kind === 'conversation' ? parsed.conversation : 'main';
  return `${agentPath(address)}/conversations/${nameIn(conversation)}`;
}

export const anyPath = (address: string): string =>
  parseAddress(address).kind === 'conversation' ? conversationPath(address) : agentPath(address);
