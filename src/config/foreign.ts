/** Names and addresses of other projects: a file that came with a clone must not speak for them before its user says so. */
import type { Entry as Written } from './check.ts';
import type { Env } from './places.ts';
import { holderOf, type Entry } from './registry.ts';

/** Says which name or address of another project an entry would take; undefined when the entry is allowed. */
export type Demand = (entry: Written) => string | undefined;

/** CI: a root that has moved keeps the name that its own file gives it. */
export const nobodyToAsk = (env: Env): boolean => !['', '0', 'false', undefined].includes(env['CI']?.toLowerCase());

/** `mayTake`: the name of a root that is gone needs nobody's yes. */
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
    const whose = holder.gone ? `belonged to ${holder.folder}, which is gone` : `belongs to ${holder.folder}`;
    return `${key} = ${JSON.stringify(value)} (the project ${JSON.stringify(name)} ${whose})`;
  };
}
