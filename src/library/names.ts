/** Reads the names of agents in a program: `coder` belongs to this folder's project, `shop/coder` to the project `shop`. */
import { formatAddress, logOf, parseAddress, type Address, type LogKey } from '../core/address.ts';
import { bad, checkText } from './arguments.ts';

/** Returns the address of a name: `coder`, `coder#c1`, `*`, or a whole address. Throws `bad_address` for any other text. */
export function addressOf(call: string, project: string, name: string): Address {
  checkText(call, 'the name of the agent', name);
  return parseAddress(name.includes('/') ? name : `${project}/${name}`);
}

/** Returns the address of a name as text. */
export const fullName = (call: string, project: string, name: string): string => formatAddress(addressOf(call, project, name));

/** Returns the log of one agent. Throws `bad_argument` for a whole project. */
export function logNamed(call: string, project: string, name: string): LogKey {
  const address = addressOf(call, project, name);
  if (address.kind === 'project')
    throw bad(`${call}: ${formatAddress(address)} is a whole project; name one agent of the project`);
  return logOf(address);
}
