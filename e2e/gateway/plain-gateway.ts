/**
 * Runs the gateway without the rest of Earpiece, for tests.
 *
 *   node e2e/gateway/plain-gateway.ts [--profile KIND] [--http PORT] [--script FILE --log FILE] -- COMMAND [ARG...]
 *   node e2e/gateway/plain-gateway.ts [...] --url URL
 *   node e2e/gateway/plain-gateway.ts [...] --servers FILE    (JSON: a list of upstreams) [--patience JSON]
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { noRider, startGateway, type ProfileKind, type Upstream } from '../../src/gateway/index.ts';
import { filedRider } from './scripted-rider.ts';

const { values, positionals } = parseArgs({
  options: {
    profile: { type: 'string' },
    script: { type: 'string' },
    log: { type: 'string' },
    http: { type: 'string' },
    token: { type: 'string' },
    url: { type: 'string' },
    servers: { type: 'string' },
    patience: { type: 'string' },
    name: { type: 'string', default: 'wrapped' },
  },
  allowPositionals: true,
});

const gateway = await startGateway({
  front:
    values.http === undefined
      ? { kind: 'stdio' }
      : { kind: 'http', port: Number(values.http), ...(values.token !== undefined && { token: values.token }) },
  upstreams: upstreams(),
  rider: values.script !== undefined && values.log !== undefined ? filedRider(values.script, values.log) : noRider,
  ...(values.patience !== undefined && { patience: JSON.parse(values.patience) as Record<string, number> }),
  ...(values.profile !== undefined && { profile: values.profile as ProfileKind }),
});

if (gateway.url !== undefined) console.log(gateway.url);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void gateway.close({ now: true }));

const { reason } = await gateway.closed;
process.exit(reason === 'upstream_failed' ? 1 : 0);

function upstreams(): readonly Upstream[] {
  if (values.servers !== undefined) return JSON.parse(readFileSync(values.servers, 'utf8')) as Upstream[];
  if (values.url !== undefined) return [{ kind: 'http', name: values.name, url: values.url }];
  const [command, ...args] = positionals;
  if (command === undefined) throw new Error('no command: plain-gateway.ts [options] -- COMMAND [ARG...]');
  return [{ kind: 'stdio', name: values.name, command, args }];
}
