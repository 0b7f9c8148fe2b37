/** Parses the URL of a store: `nats://user:password@host:4222,other:4222/name?replicas=3`. */
import { EarpieceError } from '../../core/errors.ts';

export type Address = {
  /** The servers for the driver, each as `host` or `host:port`. */
  readonly servers: readonly string[];
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  readonly tls: boolean;
  /** The URL without user, password and parameters, for command lines. */
  readonly shown: string;
  /** The store's name for people, such as `nats host:4222/name`. */
  readonly name: string;
  /** The name of the store on the server. Several stores may share one server. */
  readonly store: string;
  /** The number of copies of each stream of a new store. */
  readonly replicas: number;
};

const DEFAULT_STORE = 'earpiece';
const STORE = /^[a-z0-9_-]{1,32}$/u;
const REPLICAS = [1, 3, 5];
const PARAMETERS = ['replicas'];

export function addressOf(given: string, wanted: { readonly replicas?: number | undefined } = {}): Address {
  const [, scheme = '', userinfo, hosts = '', path = '', query = ''] =
    /^(nats|tls):\/\/(?:([^@/?]*)@)?([^@/?]+)(?:\/([^?]*))?(?:\?(.*))?$/u.exec(given) ?? [];
  const servers = hosts.split(',').filter(Boolean);
  // The URL may contain a password, so the error does not repeat the URL.
  if (scheme === '' || servers.length === 0 || path.includes('@'))
    throw bad(
      'the URL of the NATS servers cannot be read: write nats://user:password@host:4222/name, with commas between several hosts',
    );
  const port = servers
    .map((host) => /:(\d+)$/u.exec(host)?.[1])
    .find((digits) => digits !== undefined && !isPort(Number(digits)));
  if (port !== undefined) throw bad(`port ${port} in the URL of the NATS servers: must be 1–65535`);
  const store = path === '' ? DEFAULT_STORE : path;
  if (!STORE.test(store))
    throw bad(
      `store name ${JSON.stringify(store)}: must have only a–z, 0–9, _ and -, at most 32 characters; write e.g. ${DEFAULT_STORE}`,
    );
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].find((key) => !PARAMETERS.includes(key));
  if (unknown !== undefined)
    throw bad(
      `the URL of the NATS servers has the unknown parameter ${JSON.stringify(unknown)}: known parameters are ${PARAMETERS.join(', ')}`,
    );
  const replicas = wanted.replicas ?? Number(parameters.get('replicas') ?? 1);
  if (!REPLICAS.includes(replicas))
    throw bad(`replicas ${JSON.stringify(parameters.get('replicas') ?? replicas)}: must be 1, 3 or 5`);
  const [user = '', password] = (userinfo ?? '').split(':').map(decodeURIComponent);
  return {
    servers,
    ...(user === '' ? {} : password === undefined ? { token: user } : { user, password }),
    tls: scheme === 'tls',
    shown: `${scheme}://${servers.join(',')}/${store}`,
    name: `nats ${servers.join(',')}/${store}`,
    store,
    replicas,
  };
}

const bad = (message: string): EarpieceError => new EarpieceError('bad_argument', message);
const isPort = (port: number): boolean => port >= 1 && port <= 65_535;
