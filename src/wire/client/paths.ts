/**
 * What a path says of an address or an id. `.` and `..` are taken out by whoever reads a URL, however they are written, and an
 * id may be called like a route: such a one has a space before it, with which no name and no id begins. The server takes it off.
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
  // The server says what is wrong with a whole project.
  const agent = parsed.kind === 'project' ? '*' : parsed.agent;
  return `/api/projects/${nameIn(parsed.project)}/agents/${nameIn(agent)}`;
}

/** The agent's `#main` where no conversation is named. */
export function conversationPath(address: string): string {
  const parsed = parseAddress(address);
  const conversation = parsed.kind === 'conversation' ? parsed.conversation : 'main';
  return `${agentPath(address)}/conversations/${nameIn(conversation)}`;
}

export const anyPath = (address: string): string =>
  parseAddress(address).kind === 'conversation' ? conversationPath(address) : agentPath(address);
