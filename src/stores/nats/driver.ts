/** Loads the clients of NATS, optional peer dependencies, at the first use of a NATS store. */
import type * as jetstreamClient from '@nats-io/jetstream';
import type * as transportNode from '@nats-io/transport-node';
import { EarpieceError, isGone } from '../../core/errors.ts';
import { addPackages } from '../../input/add-package.ts';

export type Driver = Pick<typeof transportNode, Transport> & Pick<typeof jetstreamClient, Jetstream>;
type Transport = 'connect' | 'createInbox' | 'headers';
type Jetstream = 'jetstream' | 'jetstreamManager' | 'AckPolicy' | 'DeliverPolicy';

/** Loads the two packages of a NATS store. Throws if a package is not installed. `load` is for tests. */
export async function loadDriver(
  load = () => Promise.all([import('@nats-io/transport-node'), import('@nats-io/jetstream')]),
): Promise<Driver> {
  try {
    const [{ connect, createInbox, headers }, { jetstream, jetstreamManager, AckPolicy, DeliverPolicy }] = await load();
    return { connect, createInbox, headers, jetstream, jetstreamManager, AckPolicy, DeliverPolicy };
  } catch (cause) {
    if (!isGone(cause)) throw cause;
    throw new EarpieceError(
      'bad_argument',
      `a NATS store needs two packages, but at least one is not installed: ${addPackages(['@nats-io/transport-node', '@nats-io/jetstream'])}`,
      { cause },
    );
  }
}
