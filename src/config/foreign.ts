/**
 * Finds names and addresses of other projects. The file of a cloned repository must not use such names without the user's
 * consent.
 */
import type { Entry as Written } from './check.ts';
import type { Env } from './places.ts';
import { holderOf, type Entry } from './registry.ts';

/** Returns the name or address of another project that an entry would use; undefined if the entry is allowed. */
export type Demand = (entry: Written) => string | undefined;

/** Whether this process runs in CI. No person can give consent there, so a moved root keeps the name that its file sets. */
export const nobodyToAsk = (env: Env): boolean => !['', '0', 'false', undefined].includes(env['CI']?.toLowerCase());

/**
 * Makes the function that checks the entries of one root. `mayTake` says whether the name of a removed root may be taken without
 * consent.
 */
export function foreignNames({
  names,
  root,
  mayTake,
}: {
  readonly names: readonly Entry[];
  readonly root: string;
  readonly mayTake: boolean;
}): Demand {
  return ({ key, value }) => {
    if (typeof value !== 'string' || (key !== 'project' && key !== 'address')) return undefined;
    const name = key === 'project' ? value : value.includes('/') ? value.slice(0, value.indexOf('/')) : undefined;
    const holder = name === undefined ? undefined : holderOf(names, name, root);
    if (holder === undefined || (holder.gone && mayTake && key === 'project')) return undefined;
    const whose = holder.gone ? `belonged to ${holder.folder}, which no longer exists` : `belongs to ${holder.folder}`;
    return `${key} = ${JSON.stringify(value)} (the project ${JSON.stringify(name)} ${whose})`;
  };
}
