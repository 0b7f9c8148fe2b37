import type { Presence, PresenceUpdate } from '../core/ports.ts';

/** What a sign of life makes of what is known of a conversation. Undefined fields stay as they were. */
export function present(known: Presence | undefined, update: PresenceUpdate, now: number): Presence {
  const { log, conversation, purpose, host, hostVersion, process, carrier, carried, ended, told, pulls, has, turnStarted } =
    update;
  const { endedAt, ...before } = known ?? {
    log,
    conversation,
    carriers: {},
    startedAt: now,
    told: false,
    pulls: false,
    turns: 0,
  };
  const end = ended === undefined ? endedAt : ended ? now : undefined;
  return {
    ...before,
    ...(purpose === undefined ? {} : { purpose }),
    ...(host === undefined ? {} : { host }),
    ...(hostVersion === undefined ? {} : { hostVersion }),
    ...(process === undefined ? {} : { process }),
    ...(carrier === undefined ? {} : { carriers: { ...before.carriers, [carrier]: now } }),
    ...(carried ? { carriedAt: now } : {}),
    ...(end === undefined ? {} : { endedAt: end }),
    ...(told ? { told: true } : {}),
    ...(pulls === undefined ? {} : { pulls }),
    ...(has === undefined ? {} : { has }),
    ...(turnStarted ? { turns: before.turns + 1 } : {}),
    seenAt: now,
  };
}
