import type { LeftOut, ServerConfig } from '../config/index.ts';
import { KEPT } from '../config/kept.ts';
import { defined } from '../core/defined.ts';
import type { Upstream } from '../gateway/index.ts';

/** Converts a configured server to the options with which it is started. */
export function upstreamOf({ prefix, target }: ServerConfig): Upstream {
  if (target.kind === 'http') return { kind: 'http', name: prefix, url: target.url, headers: target.headers };
  const { command, args, env, cwd } = target;
  return {
    kind: 'stdio',
    name: prefix,
    command,
    args,
    env: { ...process.env, ...WITHOUT_KEPT, ...env },
    ...defined({ cwd }),
  };
}

/**
 * Unsets the variables in which the client's entry keeps the values for wrapped servers, because each server gets only its own
 * values.
 */
const WITHOUT_KEPT = Object.fromEntries(
  Object.keys(process.env).flatMap((name) => (name.startsWith(KEPT) ? [[name, undefined] as const] : [])),
);

/**
 * Lists all servers, including servers that cannot be started, so that the names of tools do not depend on which servers work.
 */
export const withAbsent = (upstreams: readonly Upstream[], leftOut: LeftOut): readonly Upstream[] => {
  const works = new Set(upstreams.map(({ name }) => name));
  const absent = Object.entries(leftOut).filter(([name]) => !works.has(name));
  return [...upstreams, ...absent.map(([name, why]): Upstream => ({ kind: 'absent', name, why }))];
};
