import { defined } from '../core/defined.ts';
import type { Presence, PresenceUpdate } from '../core/ports.ts';
import type { Owner } from '../core/records.ts';

/**
 * Applies an update to a conversation's presence, as `touch` stores and returns it. Undefined fields stay as they were. `endedAt`
 * stays set until an update has `ended: false`, and `shared` until an update names another process.
 */
export function presenceAfter(known: Presence | undefined, update: PresenceUpdate, now: number): Presence {
  const { log, conversation, purpose, host, hostVersion, process, folder, carrier, carried, told, pulls, has } = update;
  const { points } = update;
  const {
    endedAt,
    passedTo,
    pending,
    connections,
    shared: wasShared,
    ...before
  } = known ?? {
    log,
    conversation,
    carriers: {},
    startedAt: now,
    told: false,
    pulls: false,
    turns: 0,
  };
  const shared = update.shared ?? (process === undefined || isSame(process, known?.process) ? wasShared : undefined);
  const left = connected(connections, update);
  const end = endOf(endedAt, update.ended, { now, alone: left === undefined });
  const passed = update.passedTo === undefined ? passedTo : { conversation: update.passedTo, at: now };
  const isPending = update.pending === undefined ? pending === true : update.pending && (known === undefined || pending === true);
  return {
    ...before,
    ...defined({ purpose, host, hostVersion, process, shared, folder }),
    ...(isPending ? { pending: true as const } : {}),
    ...defined({ began: update.began, passedTo: passed, connections: left }),
    ...(carrier === undefined ? {} : { carriers: { ...before.carriers, [carrier]: now } }),
    ...(carrier === undefined || points === undefined ? {} : { points: { ...known?.points, [carrier]: points } }),
    ...(carried ? { carriedAt: now } : {}),
    ...defined({ endedAt: end }),
    ...(told ? { told: true } : {}),
    ...defined({ mark: update.mark, pulls, has }),
    ...(update.turnStarted ? { turns: before.turns + 1 } : {}),
    seenAt: known !== undefined && update.passedTo !== undefined ? known.seenAt : now,
  };
}

const isSame = (a: Owner, b: Owner | undefined): boolean =>
  a.machine === b?.machine && a.pid === b.pid && a.startedAt === b.startedAt;

/** Returns the connections after the update. Undefined if no connection is left. */
function connected(
  known: Presence['connections'] = {},
  { connect, disconnect = [] }: Pick<PresenceUpdate, 'connect' | 'disconnect'>,
): Presence['connections'] {
  const left = Object.entries(known).filter(([key]) => !disconnect.includes(key));
  const now = connect === undefined ? left : [...left.filter(([key]) => key !== connect.key), [connect.key, connect.process]];
  return now.length === 0 ? undefined : (Object.fromEntries(now) as Presence['connections']);
}

function endOf(
  before: number | undefined,
  ended: PresenceUpdate['ended'],
  { now, alone }: { readonly now: number; readonly alone: boolean },
): number | undefined {
  if (ended === undefined || (ended === 'alone' && !alone)) return before;
  return ended === false ? undefined : now;
}
