import type { ServerConfig } from '../config/index.ts';
import type { Upstream } from '../gateway/index.ts';

/** A server of the configuration, as it is started. */
export function upstreamOf({ prefix, target }: ServerConfig): Upstream {
  if (target.kind === 'http') return { kind: 'http', name: prefix, url: target.url, headers: target.headers };
  const { command, args, env, cwd } = target;
  return {
    kind: 'stdio',
    name: prefix,
    command,
    args,
    env: { ...process.env, ...env } as Record<string, string>,
    ...(cwd === undefined ? {} : { cwd }),
  };
}
